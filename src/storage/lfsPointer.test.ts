import { expect, test } from "vitest";
import { checkedStorage } from "./checked.js";
import { memoryStorage } from "./memory.js";

const pointer = new TextEncoder().encode(`version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 4096\n`);
const other = new Uint8Array(200);
const storage = checkedStorage(memoryStorage({ pointer, other, short: pointer.subarray(0, 20) }));

test.each([
  ["whole", undefined],
  ["from its beginning", { offset: 0, length: 100 }],
  ["beyond its end", { offset: 1000, length: 100 }],
] as const)("a Git LFS pointer is told where it is read %s", async (_, range) => {
  await expect(storage.read("pointer", { range })).rejects.toMatchObject({
    reason: "not-a-checkpoint",
    path: "pointer",
    message: expect.stringContaining("`git lfs pull`"),
  });
});

test("other files are read, and are too short, as ever", async () => {
  expect(await storage.read("other")).toEqual(other);
  expect((await storage.read("short"))?.length).toBe(20);
  expect((await storage.read("pointer", { range: { offset: 60, length: 8 } }))?.length).toBe(8);
  for (const path of ["other", "short"]) {
    await expect(storage.read(path, { range: { offset: 1000, length: 100 } })).rejects.toMatchObject({ reason: "length" });
    await expect(storage.read(path, { range: { offset: 199, length: 2 } })).rejects.toMatchObject({ reason: "length" });
  }
  await expect(storage.read("short", { range: { offset: 10, length: 20 } })).rejects.toMatchObject({ reason: "length" });
});
