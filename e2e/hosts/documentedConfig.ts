import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a server of docs/hosting.md is to listen, and what it is to serve. */
interface Place {
  readonly port: number;
  readonly folder: string;
}

/** The block of a language in docs/hosting.md. */
export function documentedBlock(language: string): string {
  const text = readFileSync(join(import.meta.dirname, "../../docs/hosting.md"), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(([, name]) => name === language);
  const [, , block] = blocks[0] ?? [];
  if (block === undefined || blocks.length > 1) throw new Error(`docs/hosting.md has ${blocks.length} blocks of ${language}, not one`);
  return block;
}

/** A server's settings as docs/hosting.md gives them, for another folder and a port on this machine. */
export const documentedConfig = (language: string, { port, folder }: Place): string =>
  documentedBlock(language)
    .replaceAll("/srv/checkpoints", folder)
    .replace(/^(\s*listen )8080;/m, `$1127.0.0.1:${port};`)
    .replace(/^:8080/m, `http://127.0.0.1:${port}`);
