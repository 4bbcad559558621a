import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { version } from "./version.js";

it("is the package's", () => {
  const { version: expected } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8"));
  expect(version).toBe(expected);
});
