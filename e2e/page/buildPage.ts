import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { buildLibrary } from "../setup/build.mjs";
import { runCommand } from "../setup/commands.mjs";

const root = join(import.meta.dirname, "..", "..");

/** Builds the test page once a run, and before it the package where `dist` is older than the source. */
export default async function buildPage(): Promise<void> {
  if (builtAt() < changedAt()) {
    const { code, output } = await buildLibrary({ root, run: runCommand });
    if (code !== 0) throw new Error(`the package does not build:\n${output}`);
  }
  await build({ configFile: join(import.meta.dirname, "vite.config.ts") });
}

/** When the last file of a build was written, in milliseconds; 0 where there is none. */
const builtAt = () => statSync(join(root, "dist", "index.d.ts"), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const changedAt = () =>
  Math.max(
    ...readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
