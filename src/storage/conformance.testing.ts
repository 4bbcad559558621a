import { afterEach, beforeEach, describe, test } from "vitest";
import { conformanceFiles } from "./conformanceFiles.testing.js";
import { type ConformanceTraits, readCases } from "./conformanceReads.testing.js";
import { writeCases } from "./conformanceWrites.testing.js";
import type { ReadableStorage, WritableStorage } from "./storage.js";

/** A storage under test, filled with the files that were asked for. */
export interface ConformanceSubject {
  readonly storage: ReadableStorage;
  /** The same storage, where it can be written to. */
  readonly writable?: WritableStorage;
  readonly close?: () => Promise<void>;
}

/** Makes a storage that holds exactly these files. */
export type ConformanceFactory = (files: ReadonlyMap<string, Uint8Array>) => ConformanceSubject | Promise<ConformanceSubject>;

/** What every storage must do; run it in a test file of each storage. Browsers run the same cases on a page. */
export function testStorage(name: string, make: ConformanceFactory, traits: ConformanceTraits = {}): void {
  describe(`${name} as a storage`, () => {
    let subject: ConformanceSubject;
    beforeEach(async () => {
      subject = await make(conformanceFiles);
    });
    afterEach(() => subject.close?.());

    for (const { name, run } of readCases(traits)) test(name, () => run(subject.storage));
    for (const { name, run } of writeCases(traits)) {
      test(`${name}, where it can be written to`, async () => {
        if (subject.writable !== undefined) await run(subject.writable);
      });
    }
  });
}
