import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { runCommand } from "../setup/commands.mjs";
import { toolOf } from "../setup/tools.mjs";

const root = join(import.meta.dirname, "..", "..");
const tool = toolOf({ root, run: runCommand });

const bundler = { module: "ESNext", moduleResolution: "Bundler", lib: ["ES2022", "ESNext.Disposable", "DOM", "DOM.Iterable"], types: [] };
const node = { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022", "ESNext.Disposable"], types: ["node"] };

/** What tsc says about files of a strict project that has the package installed; `""` when nothing. */
async function compile(name: string, files: Record<string, string>, options: object): Promise<string> {
  const folder = join(inject("consumer"), name);
  mkdirSync(folder, { recursive: true });
  const compilerOptions = {
    target: "ES2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    ...options,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return (await tool("typescript", "tsc", ["-p", folder])).output;
}

const browserUse = `
import * as orbax from "orbax-webgpu";
export const device: GPUDevice | undefined = undefined;
export const names: string[] = Object.keys(orbax);
`;
const nodeUse = `
import * as orbax from "orbax-webgpu";
import * as node from "orbax-webgpu/node";
export const names: string[] = [...Object.keys(orbax), ...Object.keys(node)];
`;

/** A few of the declarations that newer DOM libraries have: interfaces, globals and aliases that @webgpu/types declares too. */
const domWithWebGpu = `
type GPUBufferUsageFlags = number;
type GPUSize64 = number;
interface GPUObjectBase { label: string; }
interface GPUBuffer extends GPUObjectBase { readonly size: GPUSize64; destroy(): undefined; }
declare var GPUBuffer: { prototype: GPUBuffer; new (): GPUBuffer };
interface GPUDevice extends EventTarget, GPUObjectBase { readonly queue: GPUQueue; destroy(): undefined; }
declare var GPUDevice: { prototype: GPUDevice; new (): GPUDevice };
interface NavigatorGPU { readonly gpu: GPU; }
interface Navigator extends NavigatorGPU {}
`;

describe("the package's types in a user's strict project", () => {
  it("compile for a bundler, and bring WebGPU's types", async () => {
    expect(await compile("bundler", { "use.ts": browserUse }, bundler)).toBe("");
  });

  it("compile for Node, without the DOM's types", async () => {
    expect(await compile("node", { "use.ts": nodeUse }, node)).toBe("");
  });

  it("are sound themselves (skipLibCheck: false)", async () => {
    expect(await compile("lib-check", { "use.ts": browserUse }, { ...bundler, skipLibCheck: false })).toBe("");
  });

  it("compile where the DOM's own types have WebGPU, as from TypeScript 6", async () => {
    const files = { "use.ts": browserUse, "dom-with-webgpu.d.ts": domWithWebGpu };
    expect(await compile("dom-with-webgpu", files, bundler)).toBe("");
  });

  it("compile where the project brings WebGPU's types as well", async () => {
    expect(await compile("webgpu-types", { "use.ts": browserUse }, { ...bundler, types: ["@webgpu/types"] })).toBe("");
  });
});

/** TypeScript examples of a Markdown file. */
const examplesOf = (markdown: string) => [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");

describe.each([
  "README.md",
  "docs/errors.md",
  "docs/hosting.md",
  "docs/memory-and-progress.md",
  "docs/offline.md",
  "docs/opening-checkpoints.md",
  "docs/parts.md",
  "docs/saving.md",
  "docs/taking-home.md",
])("the examples of %s", (file) => {
  const examples = examplesOf(readFileSync(join(root, file), "utf8"));

  it("exist", () => expect(examples.length).toBeGreaterThan(0));

  it("compile", async () => {
    const names = file.replace(/\W/g, "-");
    const sources = Object.fromEntries(examples.map((text, index) => [`example-${index + 1}.ts`, `${text}\nexport {};\n`]));
    expect(await compile(names, sources, { ...bundler, types: ["@webgpu/types"] })).toBe("");
  });
});
