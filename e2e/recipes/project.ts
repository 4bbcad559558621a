import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { npmCommand, runCommand } from "../setup/commands.mjs";

const root = join(import.meta.dirname, "..", "..");
const recipes = join(root, "docs", "recipes");
const digits = join(root, "e2e", "fixtures", "data", "digits", "checkpoints");

/** A reader's own project, with the recipes, the packed package, the engines and a folder of steps. */
export interface RecipeProject {
  readonly folder: string;
  remove(): void;
}

/** Makes the project in a temporary folder; the engines' packages are those that stand in docs/recipes. */
export async function makeProject(): Promise<RecipeProject> {
  const folder = mkdtempSync(join(tmpdir(), "orbax-webgpu-recipes-"));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await unpackPackage(folder, modules);
  const ours = Object.keys(dependenciesOf(join(modules, "orbax-webgpu")));
  link(join(root, "node_modules"), modules, [...ours, "@types/node", "playwright", "playwright-core", "typescript", "vite"]);
  link(join(recipes, "node_modules"), modules, Object.keys(dependenciesOf(recipes)));
  cpSync(recipes, join(folder, "recipes"), { recursive: true, filter: (path) => !path.includes("node_modules") });
  cpSync(join(recipes, "playwright"), join(folder, "playwright"), { recursive: true });
  cpSync(join(import.meta.dirname, "page"), folder, { recursive: true });
  for (const served of ["public", "playwright/public"]) cpSync(digits, join(folder, served, "checkpoints"), { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const dependenciesOf = (folder: string): Record<string, string> =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies;

function link(from: string, to: string, names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    symlinkSync(join(from, name), join(to, name), "junction");
  }
}

async function unpackPackage(folder: string, modules: string): Promise<void> {
  const npm = npmCommand();
  const pack = [...npm.args, "pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(await succeed(npm.command, pack, root));
  await succeed("tar", ["-xzf", join(folder, filename), "-C", folder], folder);
  renameSync(join(folder, "package"), join(modules, "orbax-webgpu"));
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, output, stdout } = await runCommand(command, args, { cwd, timeoutSeconds: 600 });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}: ${output}`);
  return stdout;
}
