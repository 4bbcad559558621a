import { readdirSync, readFileSync } from "node:fs";
import { extname, join, posix, relative, sep } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// The one rule of the house: import from a lower layer, never sideways, never up. Files by path, such as "zarr/openArray.ts".
type Sources = ReadonlyMap<string, string>;

const layers: readonly (readonly string[])[] = [
  ["errors.ts"],
  ["arguments.ts"],
  ["bytes", "tasks"],
  ["storage", "codecs", "arrays"],
  ["ocdbt", "zarr", "pytree", "gpu"],
  ["checkpoint"],
  ["index.ts", "node.ts"],
];

/** The only folder that may import each package. */
const packageHomes: Readonly<Record<string, string>> = {
  "crc-32": "bytes",
  "@zip.js/zip.js": "storage",
  "@zip.js/zip.js/lib/zip-core-native.js": "storage",
  "client-zip": "checkpoint",
  fzstd: "codecs",
  "idb-keyval": "storage",
  numcodecs: "codecs",
  zarrita: "zarr",
  zod: "checkpoint",
};

/** Files that run in Node only. */
const nodeFiles: readonly string[] = ["storage/node.ts", "storage/node/", "node.ts"];

const isNodeFile = (path: string) => nodeFiles.some((home) => path === home || (home.endsWith("/") && path.startsWith(home)));

/** Folders of tests that may reach into the library for what the package does not export. */
const insiders: readonly string[] = ["e2e/hosts/", "e2e/page/", "e2e/synthetic/"];

/** Methods of WebGPU objects, which are called in gpu/ only. */
const gpuMethods =
  /^(create(Buffer|CommandEncoder|ComputePipeline|ShaderModule|BindGroup)|writeBuffer|mapAsync|pushErrorScope|popErrorScope)$/;

const homeOf = (path: string) => path.split("/")[0] ?? path;
const layerOf = (path: string) => layers.findIndex((homes) => homes.includes(homeOf(path)));

/** What the library's files do that they must not, a line each; tests are free. */
function breachesOf(sources: Sources): string[] {
  const library = new Map(
    [...sources].filter(([path]) => !/\.(test|testing)\.ts$/.test(path)).map(([path, text]) => [path, parse(path, text)]),
  );
  const imports = new Map([...library].map(([path, file]) => [path, importsOf(file)]));
  const found = [...library].flatMap(([path, file]) => [
    ...(layerOf(path) < 0 ? [`${path} stands in no layer`] : []),
    ...(imports.get(path) ?? []).flatMap((specifier) => importBreach(library, path, specifier) ?? []),
    ...(homeOf(path) === "gpu" ? [] : gpuUses(file).map((use) => `${path} uses WebGPU outside gpu/: ${use}`)),
  ]);
  return [...found, ...cyclesOf(imports)];
}

const parse = (path: string, text: string) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest);

/** Every module a file names: static, dynamic and type imports, and exports from elsewhere. */
function importsOf(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const add = (node: ts.Node | undefined) => {
    if (node !== undefined && ts.isStringLiteralLike(node)) found.push(node.text);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0]);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function importBreach(library: ReadonlyMap<string, unknown>, path: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return packageBreach(path, specifier);
  const target = targetOf(path, specifier.replace(/\?worker&inline$/, ""));
  if (!library.has(target)) return `${path} imports ${specifier}, which is no file of the library`;
  if (target.startsWith("storage/node/") && !isNodeFile(path)) return `${path} imports ${target}, which only storage/node.ts may`;
  if (homeOf(target) === homeOf(path)) return undefined;
  if (target === "storage/node.ts" && path !== "node.ts") return `${path} imports ${target}, which only node.ts may`;
  const [from, to] = [layerOf(path), layerOf(target)];
  if (to < from) return undefined;
  return `${path} imports ${to === from ? "sideways" : "up"}: ${target}`;
}

function packageBreach(path: string, specifier: string): string | undefined {
  if (specifier.startsWith("node:"))
    return isNodeFile(path)
      ? undefined
      : `${path} imports ${specifier}; only ${nodeFiles.slice(0, -1).join(", ")} and ${nodeFiles.at(-1)} may`;
  const name = Object.keys(packageHomes).find((known) => specifier === known || specifier.startsWith(`${known}/`));
  if (name === undefined) return `${path} imports the unknown package ${specifier}`;
  return packageHomes[name] === homeOf(path) ? undefined : `${path} imports ${name}; only ${packageHomes[name]}/ may`;
}

const targetOf = (path: string, specifier: string) => posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");

/** Values (not types) of WebGPU that a file touches. */
function gpuUses(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isIdentifier(node) && /^GPU[A-Z]/.test(node.text)) found.push(node.text);
    if (ts.isPropertyAccessExpression(node) && node.name.text === "gpu") found.push(node.getText(file));
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && gpuMethods.test(node.expression.name.text)) {
      found.push(node.expression.getText(file));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function cyclesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`);
    if (done.has(path) || trail.includes(path)) return;
    for (const specifier of imports.get(path) ?? []) if (specifier.startsWith(".")) visit(targetOf(path, specifier), [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return cycles;
}

/** Files below a folder with one of the extensions, by path relative to it. */
function readTree(folder: string, extensions: readonly string[]): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => extensions.includes(extname(name)) && !/(^|[\\/])(node_modules|dist|data|results)[\\/]/.test(name));
  return new Map(paths.map((name) => [name.split(sep).join("/"), readFileSync(join(folder, name), "utf8")]));
}

const breachesIn = (files: Record<string, string>) => breachesOf(new Map([["errors.ts", ""], ...Object.entries(files)]));

describe("the library", () => {
  it("imports downward only, without a cycle, each package and WebGPU in its place", () => {
    expect(breachesOf(readTree(import.meta.dirname, [".ts"]))).toEqual([]);
  });

  it("is imported by name only from demo/ and e2e/", () => {
    const root = join(import.meta.dirname, "..");
    const outside = ["demo", "e2e"].flatMap((folder) =>
      [...readTree(join(root, folder), [".ts", ".tsx", ".mjs"])].map(([path, text]) => [`${folder}/${path}`, text] as const),
    );
    const reaching = outside
      .filter(([path]) => !insiders.some((folder) => path.startsWith(folder)))
      .flatMap(([path, text]) =>
        importsOf(parse(path, text))
          .map((specifier) => (specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier.replace(/^\//, "")))
          .filter((target) => /^(src|dist)\//.test(target))
          .map((target) => `${path} imports ${relative("", target)}`),
      );
    expect(reaching).toEqual([]);
  });
});

describe("the check of the layers", () => {
  it.each<[string, Record<string, string>, string]>([
    ["an import from above", { "bytes/a.ts": `import { b } from "../zarr/b.js";`, "zarr/b.ts": "" }, "bytes/a.ts imports up: zarr/b.ts"],
    ["a sideways import", { "zarr/a.ts": `import "../ocdbt/b.js";`, "ocdbt/b.ts": "" }, "zarr/a.ts imports sideways: ocdbt/b.ts"],
    [
      "a sideways import below",
      { "codecs/a.ts": `import "../arrays/b.js";`, "arrays/b.ts": "" },
      "codecs/a.ts imports sideways: arrays/b.ts",
    ],
    [
      "a type import from above",
      { "gpu/a.ts": `import type { B } from "../checkpoint/b.js";`, "checkpoint/b.ts": "" },
      "gpu/a.ts imports up: checkpoint/b.ts",
    ],
    ["an import type", { "gpu/a.ts": `type B = import("../zarr/b.js").B;`, "zarr/b.ts": "" }, "gpu/a.ts imports sideways: zarr/b.ts"],
    ["a dynamic import", { "gpu/a.ts": `await import("../zarr/b.js");`, "zarr/b.ts": "" }, "gpu/a.ts imports sideways: zarr/b.ts"],
    [
      "an export from above",
      { "storage/a.ts": `export * from "../checkpoint/b.js";`, "checkpoint/b.ts": "" },
      "storage/a.ts imports up: checkpoint/b.ts",
    ],
    ["the front door from inside", { "checkpoint/a.ts": `import "../index.js";`, "index.ts": "" }, "checkpoint/a.ts imports up: index.ts"],
    [
      "a cycle in a folder",
      { "zarr/a.ts": `import "./b.js";`, "zarr/b.ts": `import "./a.js";` },
      "cycle: zarr/a.ts → zarr/b.ts → zarr/a.ts",
    ],
    ["zarrita elsewhere", { "gpu/a.ts": `import { open } from "zarrita";` }, "gpu/a.ts imports zarrita; only zarr/ may"],
    ["zod elsewhere", { "pytree/a.ts": `import * as z from "zod/mini";` }, "pytree/a.ts imports zod; only checkpoint/ may"],
    ["an unknown package", { "zarr/a.ts": `import "lodash";` }, "zarr/a.ts imports the unknown package lodash"],
    [
      "Node's modules elsewhere",
      { "storage/a.ts": `import "node:fs";` },
      "storage/a.ts imports node:fs; only storage/node.ts, storage/node/ and node.ts may",
    ],
    [
      "Node's storage elsewhere",
      { "index.ts": `import "./storage/node.js";`, "storage/node.ts": "" },
      "index.ts imports storage/node.ts, which only node.ts may",
    ],
    [
      "a WebGPU global elsewhere",
      { "checkpoint/a.ts": "export const u = GPUBufferUsage.STORAGE;" },
      "checkpoint/a.ts uses WebGPU outside gpu/: GPUBufferUsage",
    ],
    ["navigator.gpu elsewhere", { "index.ts": "navigator.gpu;" }, "index.ts uses WebGPU outside gpu/: navigator.gpu"],
    ["a WebGPU call elsewhere", { "zarr/a.ts": "d.createBuffer({});" }, "zarr/a.ts uses WebGPU outside gpu/: d.createBuffer"],
    ["a folder without a layer", { "utils/a.ts": "" }, "utils/a.ts stands in no layer"],
    ["a missing file", { "zarr/a.ts": `import "./b.js";` }, "zarr/a.ts imports ./b.js, which is no file of the library"],
  ])("finds %s", (_, files, breach) => {
    expect(breachesIn(files)).toContain(breach);
  });

  it("accepts what is allowed", () => {
    const files = {
      "arrays/spec.ts": `import { f } from "../bytes/f.js";`,
      "bytes/f.ts": `import "../errors.js"; import crc from "crc-32/crc32c.js";`,
      "checkpoint/b.ts": `import { a } from "../gpu/a.js"; import * as z from "zod/mini"; let d: GPUDevice | undefined;`,
      "gpu/a.ts": `import "../arrays/spec.js"; import "./c.js"; GPUBufferUsage.STORAGE;`,
      "gpu/c.ts": "navigator.gpu",
      "node.ts": `import "./storage/node.js"; import "node:path";`,
      "storage/node.ts": `import "node:fs/promises";`,
      "zarr/a.test.ts": `import "../gpu/a.js"; import "node:fs";`,
    };
    expect(breachesIn(files)).toEqual([]);
  });
});
