import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OrbaxCheckpointStore, openCheckpoint, writeIndex } from "../../src/index.js";
import { nodeStorage } from "../../src/node.js";
import { conformanceFiles } from "../../src/storage/conformanceFiles.testing.js";
import { readCases } from "../../src/storage/conformanceReads.testing.js";
import { indexFileName, parseIndexFile } from "../../src/storage/hosts/indexFile.js";
import { httpStorage } from "../../src/storage/http.js";
import { differences, type Expected } from "../fixtures/expected.js";
import { findHostServers } from "../setup/hostServers.mjs";
import { documentedBlock } from "./documentedConfig.js";
import { hostNames, type RunningHost, startHost } from "./startHost.js";

// On web servers as Debian has them, with the settings that docs/hosting.md gives.

const fixture = join(import.meta.dirname, "../fixtures/data/digits");
const expected: Expected = JSON.parse(readFileSync(join(fixture, "expected.json"), "utf8"));
const steps = Object.keys(expected.steps).map(Number);

let root = "";

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "orbax-webgpu-hosts-"));
  // Servers give up the rights they were started with.
  chmodSync(root, 0o755);
  for (const folder of ["plain", "indexed"]) for (const [path, bytes] of conformanceFiles) put(join(root, "www", folder, path), bytes);
  await writeIndex(nodeStorage(join(root, "www", "indexed")));
  cpSync(join(fixture, "checkpoints"), join(root, "www", "checkpoints"), { recursive: true });
});

afterAll(() => rmSync(root, { recursive: true }));

function put(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

const commands = findHostServers();

describe.each(hostNames)("on %s", (name) => {
  const command = commands[name];
  let host: RunningHost | undefined;

  beforeAll(async () => {
    if (command !== undefined) host = await startHost(name, command, { scratch: join(root, name), folder: join(root, "www") });
  });
  afterAll(() => host?.close());

  const urlOf = (folder: string) => `${host?.url}/${folder}`;
  const tried = test.skipIf(command === undefined);

  for (const { name: what, run } of readCases({ hidesDotNames: name === "nginx" })) tried(what, () => run(httpStorage(urlOf("plain"))));

  for (const { name: what, run } of readCases().filter(({ name }) => name.startsWith("lists")))
    tried(`with an index file it ${what}`, () => run(httpStorage(urlOf("indexed"))));

  tried("steps are listed and restored as they were saved", async () => {
    const store = new OrbaxCheckpointStore(urlOf("checkpoints"));
    expect(await store.listSteps()).toEqual(steps);
    for (const step of steps) {
      const items: Readonly<Record<string, unknown>> = (await store.restore(step)).items;
      for (const [item, leaves] of Object.entries(expected.steps[step]?.items ?? {}))
        expect(await differences(items[item], leaves), `${step} ${item}`).toEqual([]);
    }
  });

  tried("openCheckpoint finds the newest step", async () => {
    const opened = await openCheckpoint(urlOf("checkpoints"), { item: "model" });
    expect(opened.step).toBe(Math.max(...steps));
    expect(opened.leaves.length).toBeGreaterThan(0);
  });

  // Python's has no such settings.
  if (name === "python3") return;
  tried("every answer may be read by pages of other origins", async () => {
    for (const [path, init, status] of [
      ["plain/top.bin", {}, 200],
      ["plain/top.bin", { headers: { range: "bytes=1-2" } }, 206],
      ["plain/nothing", {}, 404],
      ["plain/", {}, 200],
    ] as [string, RequestInit, number][]) {
      const response = await fetch(urlOf(path), init);
      await response.arrayBuffer();
      expect([path, response.status, response.headers.get("access-control-allow-origin")]).toEqual([path, status, "*"]);
      expect(response.headers.get("access-control-expose-headers"), path).toContain("ETag");
    }
  });
});

test.skipIf(commands.python3 === undefined)("the Python of docs/hosting.md writes the index that writeIndex writes", () => {
  const folder = join(root, "python");
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "www", "indexed"), join(folder, "checkpoints"), { recursive: true });
  const written = () => parseIndexFile(readFileSync(join(folder, "checkpoints", indexFileName)));
  const ours = written();
  rmSync(join(folder, "checkpoints", indexFileName));
  for (let times = 0; times < 2; times += 1) {
    execFileSync(commands.python3 ?? "", ["-c", documentedBlock("python")], { cwd: folder });
    expect([...(written() ?? [])].sort()).toEqual([...(ours ?? [])].sort());
  }
});
