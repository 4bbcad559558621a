import { describe, expect, it } from "vitest";
import { JsonFloat, parseJson } from "../../bytes/json.js";
import { CheckpointValidationError } from "../../errors.js";
import { parseRecordedDtypes } from "./recordedDtypes.js";

describe("parseRecordedDtypes", () => {
  it("reads names by item and leaf, also of a leaf named __proto__", () => {
    const dtypes = parseRecordedDtypes(
      parseJson(new TextEncoder().encode('{"model": {"__proto__": "int32"}, "rng": {"": "uint32"}}'), "f"),
    );
    expect(Object.entries(dtypes.model ?? {})).toEqual([["__proto__", "int32"]]);
    expect(dtypes.rng).toEqual({ "": "uint32" });
  });

  it("refuses what is no name", () => {
    expect(() => parseRecordedDtypes({ model: { w: 1, b: new JsonFloat(1) }, rng: null })).toThrow(/model.w.*model.b.*rng/);
    expect(() => parseRecordedDtypes([])).toThrow(CheckpointValidationError);
  });
});
