import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "playwright/test";
import { runCommand } from "../setup/commands.mjs";
import { freePort } from "../setup/freePort.js";

// Whether the bench works, on little data; how fast anything is, no test says.

test("the bench measures ratios, and the GPU and the saved files get the right bytes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-bench-"));
  const json = join(folder, "bench.json");
  const only = ["opfs-64", "http-64", "http-zarrita", "opfs-not-isolated", "http-renderer", "requests", "http-block", "save"];
  const args = ["--quick", "--reps", "1", "--port", `${await freePort()}`, "--json", json, "--chart", join(folder, "bench.svg")];
  try {
    const { code, output } = await runCommand(process.execPath, [join(import.meta.dirname, "run.mjs"), ...args, "--only", only.join(",")]);
    expect(code, output).toBe(0);
    const { ratios } = JSON.parse(await readFile(json, "utf8"));
    expect(Object.keys(ratios)).toEqual(expect.arrayContaining([...only.slice(0, -1), "save-opfs", "save-renderer"]));
    for (const [name, { value }] of Object.entries<{ value: unknown }>(ratios)) expect(value, name).toEqual(expect.any(Number));
    expect(await readFile(join(folder, "bench.svg"), "utf8")).toContain("orbax-webgpu");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
