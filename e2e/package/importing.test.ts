import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { runCommand } from "../setup/commands.mjs";
import { bundle } from "./bundle.js";

/** Makes every WebGPU global throw when it is touched. */
const trap = `
const names = ["GPU", "GPUAdapter", "GPUBuffer", "GPUBufferUsage", "GPUColorWrite", "GPUDevice", "GPUMapMode", "GPUShaderStage", "GPUTextureUsage"];
const touched = (name) => ({ configurable: true, get() { throw new Error("importing the package touched " + name); } });
for (const name of names) Object.defineProperty(globalThis, name, touched(name));
Object.defineProperty(globalThis, "navigator", { configurable: true, value: Object.defineProperty({}, "gpu", touched("navigator.gpu")) });
`;

/** Runs a script in the project that has the package installed; fails with its output. */
async function runScript(name: string, script: string, args: string[] = []): Promise<string> {
  const file = join(inject("consumer"), name);
  writeFileSync(file, script);
  const { code, output, stdout } = await runCommand(process.execPath, ["--disable-warning=ExperimentalWarning", ...args, file]);
  expect(code, output).toBe(0);
  return stdout.trim();
}

const importBoth = `await import("orbax-webgpu"); await import("orbax-webgpu/node"); console.log("imported");`;

it("can be imported in Node without touching WebGPU", async () => {
  expect(await runScript("plain.mjs", `${trap}${importBoth}`)).toBe("imported");
});

it("can be imported in a worker without touching WebGPU", async () => {
  const worker = JSON.stringify(`data:text/javascript,${encodeURIComponent(`${trap}export {};`)}`);
  writeFileSync(join(inject("consumer"), "thread.mjs"), `await import(${worker}); ${importBoth}`);
  const script = `import { Worker } from "node:worker_threads"; new Worker(new URL("./thread.mjs", import.meta.url));`;
  expect(await runScript("worker.mjs", script)).toBe("imported");
});

it("can be imported where a server renders pages: no window, navigator, document, worker or WebGPU", async () => {
  const files = await bundle(inject("consumer"), `export * from "orbax-webgpu";`);
  writeFileSync(join(inject("consumer"), "bundled.json"), JSON.stringify(files));
  const script = `
    import { readFileSync } from "node:fs";
    import vm from "node:vm";
    const offered = { AbortController, AbortSignal, Blob, DOMException, Headers, Request, Response, TextDecoder, TextEncoder, URL, WebAssembly,
      atob, btoa, clearTimeout, fetch, queueMicrotask, setTimeout };
    const context = vm.createContext({ ...offered });
    const files = JSON.parse(readFileSync(new URL("./bundled.json", import.meta.url), "utf8"));
    const modules = new Map(files.map(({ name, code }) => ["./" + name, new vm.SourceTextModule(code, { context })]));
    const [entry] = modules.values();
    await entry.link((specifier) => modules.get(specifier) ?? Promise.reject(new Error("the bundle imports " + specifier)));
    await entry.evaluate();
    console.log("imported");`;
  expect(await runScript("server.mjs", script, ["--experimental-vm-modules"])).toBe("imported");
});

it("can be imported twice, and both copies know each other's errors", async () => {
  const script = `
    const first = await import("orbax-webgpu");
    const second = await import(import.meta.resolve("orbax-webgpu") + "?copy");
    console.log(second.isCheckpointError(new first.CheckpointValueError("x"), "Value"));`;
  expect(await runScript("twice.mjs", script)).toBe("true");
});
