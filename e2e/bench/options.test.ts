import { describe, expect, it } from "vitest";
import { benchOptions } from "./options.js";

describe("the bench's options", () => {
  it("are five repetitions of everything unless said otherwise", () => {
    expect(benchOptions([])).toMatchObject({ only: undefined, reps: 5, quick: false, json: undefined });
  });

  it("name rows and a file", () => {
    expect(benchOptions(["--only", "opfs-64,small", "--reps", "9", "--json", "out.json"])).toMatchObject({
      only: ["opfs-64", "small"],
      reps: 9,
      json: "out.json",
    });
  });

  it("refuse what is no number of repetitions", () => {
    expect(() => benchOptions(["--reps", "many"])).toThrow("--reps takes a whole number");
    expect(() => benchOptions(["--reps", "0"])).toThrow("--reps takes a whole number");
  });

  it("refuse what they do not know", () => {
    expect(() => benchOptions(["--fast"])).toThrow("--fast");
  });
});
