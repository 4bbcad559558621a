import { describe, expect, it } from "vitest";
import { mostAxes, pieceBytes, scatterShader } from "./scatterShader.js";

describe("scatterShader", () => {
  it("says its sizes to WGSL and to the code that fills its uniform", () => {
    expect(pieceBytes).toBe(32 + mostAxes * 16);
    expect(scatterShader).toContain(`array<vec4u, ${mostAxes}>`);
  });

  it("lays its uniform out by types alone: Firefox refuses an array of a structure that is aligned by an attribute of its member", () => {
    expect(scatterShader).not.toMatch(/@align|@size/);
  });
});
