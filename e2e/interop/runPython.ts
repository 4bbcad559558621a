import { join } from "node:path";
import { runCommand } from "../setup/commands.mjs";

/** Variables that name the Pythons which `npm test` prepared: with the newest Orbax, and with the oldest that substrax takes. */
export type PythonName = "ORBAX_PYTHON" | "ORBAX_OLDEST_PYTHON";

/** Runs a script of this folder with a Python that `npm test` prepared; what it prints. */
export async function runPython(
  script: string,
  args: readonly string[],
  { name = "ORBAX_PYTHON", timeoutSeconds = 600 }: { readonly name?: PythonName; readonly timeoutSeconds?: number } = {},
): Promise<string> {
  const python = process.env[name];
  if (python === undefined) throw new Error(`${name} names no Python with substrax; \`npm test -- --only interop\` makes one`);
  const command = [join(import.meta.dirname, script), ...args];
  const { code, stdout, output } = await runCommand(python, command, { timeoutSeconds });
  if (code !== 0) throw new Error(`${script} failed:\n${output}`);
  return stdout;
}
