import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../storage/memory.js";
import { aboveOf, lastName } from "./above.js";

describe("above an address stands", () => {
  it.each([
    ["https://host/run/1200", "1200", "https://host/run"],
    ["https://host/run/1200/", "1200", "https://host/run"],
    ["https://user:pw@host/run/step%201/?token=secret", "step 1", "https://host/run"],
    ["https://host/run", "run", "https://host"],
    ["gs://bucket/run", "run", "https://storage.googleapis.com/bucket"],
    ["hf://owner/repo/run/5", "5", "https://huggingface.co/owner/repo/resolve/main/run"],
    ["runs/digits", "digits", "opfs:/runs"],
    ["digits", "digits", "opfs:"],
    ["/runs/100%", "100%", "opfs:/runs"],
  ])("of %s: %s in %s", (address, name, label) => {
    expect(aboveOf(address)).toMatchObject({ name, label });
    expect(lastName(address)).toBe(name);
  });

  it("nothing that is known where it is a storage, or the topmost folder", () => {
    expect(aboveOf(memoryStorage())).toBeUndefined();
    for (const address of ["https://host/", "https://host", "/", "gs://bucket", "hf://owner/repo", new URL("https://host/")])
      expect(aboveOf(address)).toBeUndefined();
    expect(aboveOf(new URL("https://host/run/5"))).toMatchObject({ name: "5" });
  });
});

describe("the last name of a storage", () => {
  const { read, list } = memoryStorage();
  it.each([
    ["memory", ""],
    ["/data/run/5", "5"],
    ["C:\\data\\run\\5\\", "5"],
    ["https://host/run/5", "5"],
    ["https://host", ""],
    ["opfs:/runs", "runs"],
  ])("called %s is %j", (name, last) => {
    expect(lastName({ name, read, list })).toBe(last);
  });
});
