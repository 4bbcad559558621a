// @ts-check
import { rmSync } from "node:fs";
import { join } from "node:path";
import { toolOf } from "./tools.mjs";

/**
 * Builds the package into `dist`: the modules by vite, their types by tsc. What an earlier build left is removed first, so that
 * nothing can use it after a failure.
 * @param {{ root: string, run: import("./commands.mjs").Run }} options
 * @returns {Promise<import("./commands.mjs").Finished>} The first command that failed, else the last one.
 */
export async function buildLibrary({ root, run }) {
  const tool = toolOf({ root, run });
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const bundled = await tool("vite", "vite", ["build", "--logLevel", "warn"]);
  if (bundled.code !== 0) return bundled;
  return tool("typescript", "tsc", ["-p", "e2e/tsconfig.build.json"]);
}
