// @ts-check
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Starts the command-line tools of installed packages with this Node, so that neither a shell nor npx is needed.
 * @param {{ root: string, run: import("./commands.mjs").Run }} options
 * @returns {(packageName: string, tool: string, args: readonly string[], options?: import("./commands.mjs").RunOptions) =>
 *   Promise<import("./commands.mjs").Finished>}
 */
export const toolOf =
  ({ root, run }) =>
  (packageName, tool, args, options = {}) => {
    const folder = join(root, "node_modules", packageName);
    const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const script = join(folder, typeof bin === "string" ? bin : bin[tool]);
    return run(process.execPath, [script, ...args], {
      cwd: root,
      ...options,
      env: { NO_COLOR: "1", FORCE_COLOR: undefined, ...options.env },
    });
  };
