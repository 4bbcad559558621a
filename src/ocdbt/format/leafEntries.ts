import { ByteStrings } from "../../bytes/byteStrings.js";
import { type LeafValue, LeafValues } from "./leafValues.js";

/** A key, relative to its node, and its value. */
export interface LeafEntry {
  readonly key: Uint8Array;
  readonly value: LeafValue;
}

/** The entries of a leaf, ascending by key, bytewise. */
export class LeafEntries implements Iterable<LeafEntry> {
  readonly keys: ByteStrings;
  readonly values: LeafValues;

  constructor(keys: ByteStrings, values: LeafValues) {
    this.keys = keys;
    this.values = values;
  }

  /** Copies entries that ascend by key. */
  static of(entries: readonly LeafEntry[]): LeafEntries {
    return new LeafEntries(ByteStrings.of(entries.map(({ key }) => key)), LeafValues.of(entries.map(({ value }) => value)));
  }

  get length(): number {
    return this.keys.length;
  }

  *[Symbol.iterator](): Generator<LeafEntry> {
    for (let index = 0; index < this.length; index++) yield { key: this.keys.at(index), value: this.values.at(index) };
  }
}
