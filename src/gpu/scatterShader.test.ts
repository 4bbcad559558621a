import { describe, expect, it } from "vitest";
import { mostAxes, pieceBytes, scatterShader } from "./scatterShader.js";

describe("scatterShader", () => {
  it("says its sizes to WGSL and to the code that fills its uniform", () => {
    expect(pieceBytes).toBe(32 + mostAxes * 16);
    expect(scatterShader).toContain(`array<Axis, ${mostAxes}>`);
  });
});
