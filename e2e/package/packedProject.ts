import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { npmCommand, runCommand } from "../setup/commands.mjs";

/** A temporary project that has the packed package and its dependencies installed. */
export interface PackedProject {
  readonly consumer: string;
  /** The packed package. */
  readonly tarball: string;
  remove(): void;
}

const root = join(import.meta.dirname, "..", "..");

/** Packs the built package and installs it, without the network. */
export async function packedProject(): Promise<PackedProject> {
  const consumer = mkdtempSync(join(tmpdir(), "orbax-webgpu-consumer-"));
  const modules = join(consumer, "node_modules");
  mkdirSync(modules);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const tarball = await pack(consumer);
  await succeed("tar", ["-xzf", tarball, "-C", consumer], consumer);
  renameSync(join(consumer, "package"), join(modules, "orbax-webgpu"));
  const { dependencies } = JSON.parse(readFileSync(join(modules, "orbax-webgpu", "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
  }
  return { consumer, tarball, remove: () => rmSync(consumer, { recursive: true, force: true }) };
}

async function pack(into: string): Promise<string> {
  const npm = npmCommand();
  const stdout = await succeed(npm.command, [...npm.args, "pack", "--json", "--ignore-scripts", "--pack-destination", into], root);
  const [{ filename }] = JSON.parse(stdout);
  return join(into, filename);
}

async function succeed(command: string, args: string[], cwd: string): Promise<string> {
  const { code, output, stdout } = await runCommand(command, args, { cwd });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}: ${output}`);
  return stdout;
}
