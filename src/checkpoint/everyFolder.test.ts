import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { isCheckpointError } from "../errors.js";
import { nodeStorage } from "../storage/node.js";
import { fixtureFolder } from "./fixtureSteps.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";

const generations = join(fixtureFolder, "generations");

/** What a folder is opened as, or the error's name; an error that is not the package's own is thrown. */
async function outcomeOf(folder: string): Promise<string> {
  try {
    return (await openCheckpoint(nodeStorage(folder))).kind;
  } catch (error) {
    if (!isCheckpointError(error)) throw error;
    expect(error.message).toMatch(/: (check|give|leave)|the option item|did not end/);
    return error.name;
  }
}

it.each(["0.1.8", "0.12.8"])("every folder that Orbax %s made is opened, or the error says what to give", async (version) => {
  const root = join(generations, version, "checkpoints");
  const folders = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  const outcomes = new Map<string, string>();
  for (const { parentPath, name } of folders) {
    const folder = join(parentPath, name);
    outcomes.set(relative(root, folder), await outcomeOf(folder));
  }
  const kinds = new Set(outcomes.values());
  const expected = version === "0.1.8" ? ["root", "step", "item", "array"] : ["root", "step", "item", "direct", "v1", "array", "process"];
  expect([...kinds]).toEqual(expect.arrayContaining(expected));
  expect([...kinds]).not.toContain("CorruptCheckpointError");
});
