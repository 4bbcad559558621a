import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright/test";
import { expect, test } from "../page/test.js";
import { startServer } from "../server/server.mjs";
import { runCommand } from "../setup/commands.mjs";

// A page exports a store as a ZIP, `unzip` unpacks it, substrax restores it and Flax answers as many test images right as it should; and ZIPs that
// Python and Info-ZIP made are imported. `npm test` hands over the Python that it prepared.

const digits = join(import.meta.dirname, "..", "fixtures", "data", "digits");

// Left out where its reason says so, and never in CI.
const noZips = process.env.ORBAX_NO_ZIP ?? "";
test.skip(noZips !== "" && process.env.CI !== "true", noZips);

interface TestImages {
  readonly steps: Readonly<Record<string, { readonly correct: number }>>;
}

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, output } = await runCommand(command, args, { timeoutSeconds: 600, cwd });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${output}`);
  return stdout;
}

function python(args: readonly string[], cwd: string): Promise<string> {
  const found = process.env.ORBAX_PYTHON;
  if (found === undefined) throw new Error("ORBAX_PYTHON names no Python with substrax; `npm test -- --only interop` makes one");
  return run(found, args, cwd);
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-taken-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies all steps of a server into the browser, and gives them as a ZIP in base64. */
const exportedFrom = (page: Page, url: string): Promise<string> =>
  page.evaluate(async (url) => {
    const { copySteps, zipSteps } = window.orbax;
    await copySteps(url, "taken/home");
    const bytes = new Uint8Array(await new Response(zipSteps("taken/home")).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }, url);

/** Imports a ZIP that the user picks; the SHA-256 of every file below the steps then. */
async function importedDigests(page: Page, zip: string): Promise<Record<string, string>> {
  await page.setContent('<input type="file">');
  await page.setInputFiles("input", zip);
  return page.evaluate(async () => {
    const { copySteps, zipStorage, opfsStorage, OrbaxCheckpointStore } = window.orbax;
    const file = document.querySelector("input")?.files?.[0];
    if (file === undefined) throw new Error("no file was picked");
    const place = opfsStorage(`imported/${file.name}`);
    const steps = await copySteps(zipStorage(file), place);
    const store = new OrbaxCheckpointStore(place, { device: await window.internals.testDevice() });
    const { items, destroy } = await store.restore(steps.at(-1) ?? -1);
    if (!("buffer" in (items.model as never as { out: { bias: { value: object } } }).out.bias.value))
      throw new Error("no buffer came back");
    destroy();
    const digests: Record<string, string> = {};
    const visit = async (prefix: string): Promise<void> => {
      const listing = await place.list(prefix);
      for (const name of listing.files) {
        const bytes = new Uint8Array((await place.read(prefix + name)) ?? new Uint8Array());
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        digests[prefix + name] = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
      }
      for (const name of listing.directories) await visit(`${prefix}${name}/`);
    };
    await visit("");
    return digests;
  });
}

test("what a page exports as a ZIP, unzip unpacks, substrax restores and Flax evaluates to the same number", async ({ page }) => {
  const { steps }: TestImages = JSON.parse(await readFile(join(digits, "test-images.json"), "utf8"));
  await inFolder(async (folder) => {
    const server = await startServer({ root: join(digits, "checkpoints") });
    await writeFile(join(folder, "digits.zip"), Buffer.from(await exportedFrom(page, server.url), "base64"));
    await server.close();
    await run("unzip", ["-q", "digits.zip", "-d", "checkpoints"], folder);
    const script = join(import.meta.dirname, "read_taken.py");
    const correct = JSON.parse(await python([script, join(folder, "checkpoints"), join(digits, "test-images.json")], folder));
    expect(correct).toEqual(Object.fromEntries(Object.entries(steps).map(([step, { correct }]) => [step, correct])));
  });
});

test("ZIPs that Python's zipfile and zip -r made are imported, byte for byte, and restored", async ({ page }) => {
  await inFolder(async (folder) => {
    await python(["-m", "zipfile", "-c", join(folder, "python.zip"), "checkpoints/"], digits);
    await run("zip", ["-q", "-r", join(folder, "infozip.zip"), "checkpoints"], digits);
    await run("zip", ["-q", "-0", "-r", join(folder, "stored.zip"), "."], join(digits, "checkpoints"));
    const script =
      "import hashlib,json,pathlib as p; r=p.Path('.'); print(json.dumps({f.as_posix(): hashlib.sha256(f.read_bytes()).hexdigest() for f in r.rglob('*') if f.is_file()}))";
    const expected = JSON.parse(await python(["-c", script], join(digits, "checkpoints")));
    for (const name of ["python.zip", "infozip.zip", "stored.zip"])
      expect(await importedDigests(page, join(folder, name)), name).toEqual(expected);
  });
});
