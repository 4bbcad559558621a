import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { float32BitsOf, isSmallFloat, type SmallFloat, smallFloats } from "./smallFloats.js";

/**
 * First half of the SHA-256 of what ml_dtypes 0.6.0 gives for all codes, NaN bits included:
 * `np.arange(codes).view(dtype).astype(np.float32).tobytes()`; float4's codes are masked to their low nibble first.
 */
const digests: Record<SmallFloat, string> = {
  float16: "f4fdd084f85448d28c84f20fabf4022b",
  bfloat16: "9207d7eb28680a098c73dbe536d1ff7b",
  float8_e3m4: "ac4c1902c9e5db3cf9a44155ea6eb0a7",
  float8_e4m3fn: "fbfd40716d3eddc590ca82a86c34208d",
  float8_e4m3fnuz: "0a964337a9090599d0049c863a5cc7a8",
  float8_e4m3b11fnuz: "b6465b609f4680c4effc7cbc263399fb",
  float8_e5m2: "e119e01810d2e0b12e435d3b12fc0a09",
  float8_e5m2fnuz: "ef71f572c52efd5516a126c023b5bf27",
  float8_e8m0fnu: "2fb2732a956043772ccd2c1664ae5d25",
  float4_e2m1fn: "bd050e607af8ebe7d09e5bd937a4c3ef",
};

test("every code of every small float has the value that ml_dtypes gives it", () => {
  for (const [dtype, digest] of Object.entries(digests) as [SmallFloat, string][]) {
    const bytes = new Uint8Array(float32BitsOf(dtype).buffer);
    expect(createHash("sha256").update(bytes).digest("hex").slice(0, 32), dtype).toBe(digest);
  }
});

test("a table is made once", () => {
  expect(float32BitsOf("float8_e5m2")).toBe(float32BitsOf("float8_e5m2"));
});

test("the table of formats says which dtypes are bits", () => {
  expect(isSmallFloat("bfloat16")).toBe(true);
  expect(isSmallFloat("float32")).toBe(false);
  expect(Object.keys(smallFloats).sort()).toEqual(Object.keys(digests).sort());
});
