import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeStorage } from "../node.js";
import { formatPartialName } from "../partialName.js";
import { partialName } from "./partialNames.js";
import { thisProcess } from "./processes.js";

const nameOf = (owner: unknown) => formatPartialName(Buffer.from(JSON.stringify(owner)).toString("base64url"), 1);

test("what processes were filling that have ended is removed, and nothing else", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const me = thisProcess();
  const abandoned = [nameOf({ ...me, pid }), nameOf({ ...me, started: me.started - 1e9 })];
  const kept = [partialName(), nameOf({ ...me, pid, host: `not ${hostname()}` }), nameOf(5), ".mine.1.partial", "a.partial"];
  const dir = await mkdtemp(join(tmpdir(), "orbax-webgpu-partial-"));
  try {
    for (const name of [...abandoned, ...kept]) await writeFile(join(dir, name), "1");
    await nodeStorage(dir).removeAbandoned?.("");
    expect((await readdir(dir)).sort()).toEqual(kept.sort());
    await nodeStorage(dir).removeAbandoned?.("nothing/there/");
    await expect(nodeStorage(dir).removeAbandoned?.("no prefix")).rejects.toThrow("prefix");
  } finally {
    await rm(dir, { recursive: true });
  }
});
