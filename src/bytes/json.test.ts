import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { JsonFloat, parseJson, parseJsonInTurns } from "./json.js";

const parse = (text: string, options?: { floats: "tagged" }) => parseJson(new TextEncoder().encode(text), "file.json", options);

/** Python has no integer -0, and integers beyond 2^53 are bigints here. */
function asRead(member: unknown): unknown {
  if (Object.is(member, -0)) return 0;
  const isLarge = typeof member === "number" && !Number.isSafeInteger(member) && /^-?[0-9]+$/.test(String(member));
  return isLarge ? BigInt(String(member)) : member;
}

function failure(text: string): CorruptCheckpointError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof CorruptCheckpointError) return error;
    throw error;
  }
  throw new Error(`accepted ${text}`);
}

describe("parseJson", () => {
  it("agrees with JSON.parse on all that JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parse(text)).toEqual(JSON.parse(text, (_, member) => asRead(member)));
      }),
    );
  });

  it("reads Python's bare NaN and Infinity", () => {
    expect(parse('{"loss": NaN, "best": [Infinity, -Infinity]}')).toEqual({ loss: Number.NaN, best: [Infinity, -Infinity] });
  });

  it("keeps integers beyond 2^53 as bigint", () => {
    expect(parse("[9007199254740991, 9007199254740992, -18446744073709551615]")).toEqual([
      9007199254740991,
      9007199254740992n,
      -18446744073709551615n,
    ]);
  });

  it("reads -0 as Python's integer 0", () => {
    expect(Object.is(parse("-0"), 0)).toBe(true);
    expect(Object.is(parse("-0.0"), -0)).toBe(true);
  });

  it("tells 1.0 from 1 when asked", () => {
    expect(parse("[1, 1.0, 1e2, NaN]", { floats: "tagged" })).toEqual([1, new JsonFloat(1), new JsonFloat(100), new JsonFloat(Number.NaN)]);
  });

  it("takes __proto__ and constructor as data", () => {
    const value = parse('{"__proto__": {"a": 1}, "constructor": 2}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.constructor).toBe(2);
  });

  it("lets the last of two equal names win, as Python does", () => {
    expect(parse('{"a": 1, "a": 2}')).toEqual({ a: 2 });
  });

  it.each(["", "{", "[1,]", '{"a"}', '{"a":1,}', "01", "1.", '"\\x"', '"\\u12"', '"open', "nul", "[1] 2", "<!doctype html>", "+1"])(
    "refuses %j with a typed error",
    (text) => {
      expect(failure(text)).toMatchObject({ path: "file.json" });
    },
  );

  it("names the byte, not the character", () => {
    expect(failure('{"ü": x}').offset).toBe(7);
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]), "f")).toThrow(CorruptCheckpointError);
  });

  it("stops at hostile nesting and hostile numbers at once", () => {
    expect(failure("[".repeat(100_000)).expected).toMatch(/nested/);
    expect(failure("1".repeat(1_000_000)).expected).toMatch(/digits/);
  });

  it("stops at files and numbers of values that no checkpoint has", () => {
    expect(() => parseJson(new Uint8Array(2 ** 26 + 1), "f")).toThrow(/at most 67108864 bytes/);
    expect(failure(`[${"[],".repeat(2 ** 21)}[]]`).expected).toBe("at most 2097152 values");
  });
});

describe("parseJsonInTurns", () => {
  /** Rests that are due at each look, counted. */
  const counted = () => {
    const rests = { due: true, count: 0, rest: async () => void rests.count++ };
    return rests;
  };

  it("parses a short file at once", async () => {
    const rests = counted();
    expect(await parseJsonInTurns(new TextEncoder().encode('{"a": [1]}'), "f", rests)).toEqual({ a: [1] });
    expect(rests.count).toBe(0);
  });

  it("gives the same for a long file, and rests after every few thousand values", async () => {
    const values = Array.from({ length: 200_000 }, (_, index) => (index % 2 === 0 ? index : `ü${index}`));
    const bytes = new TextEncoder().encode(JSON.stringify(values));
    expect(bytes.length).toBeGreaterThan(2 ** 20);
    const rests = counted();
    expect(await parseJsonInTurns(bytes, "f", rests)).toEqual(values);
    expect(rests.count).toBeGreaterThanOrEqual(200_000 / 4096);
  });

  it("refuses what is no UTF-8 or no JSON, or too long, with the same errors", async () => {
    const long = new TextEncoder().encode(`["${"x".repeat(2 ** 20)}", y]`);
    const outcome = parseJsonInTurns(long, "f", counted());
    await expect(outcome).rejects.toMatchObject({ path: "f", offset: 2 ** 20 + 5, expected: "a JSON value" });
    long[2 ** 20] = 0xff;
    await expect(parseJsonInTurns(long, "f", counted())).rejects.toMatchObject({ received: "bytes that are not UTF-8" });
    await expect(parseJsonInTurns(new Uint8Array(2 ** 26 + 1), "f", counted())).rejects.toThrow(/at most 67108864 bytes/);
  });
});
