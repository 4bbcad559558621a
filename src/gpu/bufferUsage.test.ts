import { describe, expect, it } from "vitest";
import { bufferUsage, defaultUsage, hasUsage } from "./bufferUsage.js";

describe("bufferUsage", () => {
  it("is STORAGE | COPY_SRC | COPY_DST by default", () => {
    expect(defaultUsage).toBe(0x8c);
    expect(hasUsage(defaultUsage, bufferUsage.STORAGE | bufferUsage.COPY_SRC)).toBe(true);
    expect(hasUsage(defaultUsage, bufferUsage.STORAGE | bufferUsage.UNIFORM)).toBe(false);
  });
});
