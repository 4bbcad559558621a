import { join } from "node:path";
import { runCommand } from "../setup/commands.mjs";

/** Runs a script of this folder with the Python that `npm test` prepared; what it prints. */
export async function runPython(script: string, args: readonly string[]): Promise<string> {
  const python = process.env.ORBAX_PYTHON;
  if (python === undefined) throw new Error("ORBAX_PYTHON names no Python with substrax; `npm test -- --only interop` makes one");
  const command = [join(import.meta.dirname, script), ...args];
  const { code, stdout, output } = await runCommand(python, command, { timeoutSeconds: 180 });
  if (code !== 0) throw new Error(`${script} failed:\n${output}`);
  return stdout;
}
