// @ts-check
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { runCommand } from "../../../../e2e/setup/commands.mjs";
import { wasmTools } from "../../../../e2e/setup/wasmTools.mjs";
import { patched } from "./patches.mjs";
import { sha256Of, zstdSource } from "./source.mjs";

// Builds zstd's decoder and writes ../zstdWasm.ts; with `--check` it only says whether that file holds what it would write.

const folder = import.meta.dirname;
const root = join(folder, "..", "..", "..", "..");
const module = join(folder, "..", "zstdWasm.ts");
const record = join(folder, "recorded.json");

/** The fast Huffman loop is left out because it does not notice damaged streams: `README.md`. */
const definitions = ["NDEBUG", "ZSTD_NO_INTRINSICS", "DYNAMIC_BMI2=0", "HUF_DISABLE_FAST_DECODE", "ZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT"];
const flags = ["--target=wasm32-wasi", "-Os", "-msimd128", "-mbulk-memory", "-ffunction-sections", "-fdata-sections", "-nostdlib", "-w"];
const linkerFlags = ["--no-entry", "--gc-sections", "--strip-all", "--stack-first", "-z", "stack-size=65536"];

/** @param {string} source zstd's single file, patched @returns {Promise<Buffer>} */
async function compiled(source) {
  const place = mkdtempSync(join(tmpdir(), "orbax-webgpu-zstd-"));
  try {
    writeFileSync(join(place, "zstd.c"), source);
    for (const name of ["pairs.c", "decoder.c"]) copyFileSync(join(folder, name), join(place, name));
    const defined = definitions.map((definition) => `-D${definition}`);
    const args = [...flags, ...defined, `-Wl,${linkerFlags.join(",")}`, "-o", "decoder.wasm", "decoder.c"];
    const { code, output } = await runCommand("clang-19", args, { cwd: place, timeoutSeconds: 300 });
    if (code !== 0) throw new Error(`clang failed with code ${code}; its output was:\n${output}`);
    return readFileSync(join(place, "decoder.wasm"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** @param {string} payload @param {{ source: import("./source.mjs").Source }} recorded */
function moduleText(payload, { source }) {
  const license = readFileSync(join(folder, "LICENSE"), "utf8").trim().split("\n");
  const notice = license.map((line) => (line === "" ? " *" : ` * ${line}`)).join("\n");
  return `// Written by wasm/build.mjs: change that, not this.
/*!
 * zstd ${source.zstdVersion}'s decoder, compiled to WebAssembly.
 *
${notice}
 */

/** The WebAssembly module, deflated (raw) and in base64. */
export const zstdWasm =
  "${payload}";
`;
}

/**
 * Throws where the committed module holds another build. It is inflated to compare, as zlib's versions deflate differently.
 * @param {Buffer} wasm
 * @param {{ source: import("./source.mjs").Source, wasm: { sha256: string } }} recorded
 */
function check(wasm, recorded) {
  const text = readFileSync(module, "utf8");
  const payload = /"([A-Za-z0-9+/=]+)";\n$/.exec(text)?.[1] ?? "";
  const held = sha256Of(inflateRawSync(Buffer.from(payload, "base64")));
  const built = sha256Of(wasm);
  if (built !== held || built !== recorded.wasm.sha256 || text !== moduleText(payload, recorded)) {
    throw new Error(
      `this build of ${wasm.length} bytes (${built}) is not the one in ${module} (${held}; recorded: ${recorded.wasm.sha256})`,
    );
  }
}

async function main() {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  const recorded = JSON.parse(readFileSync(record, "utf8"));
  const tools = await wasmTools(runCommand);
  const source = await zstdSource({ source: recorded.source, cache: join(root, ".cache"), run: runCommand });
  const wasm = await compiled(patched(source));
  const sha256 = sha256Of(wasm);
  if (values.check) {
    check(wasm, recorded);
  } else {
    writeFileSync(module, moduleText(deflateRawSync(wasm, { level: 9 }).toString("base64"), recorded));
    writeFileSync(record, `${JSON.stringify({ ...recorded, tools, wasm: { sha256, byteLength: wasm.length } }, undefined, 2)}\n`);
  }
  process.stdout.write(`zstd's decoder: ${wasm.length} bytes of WebAssembly, ${sha256}\n`);
}

await main();
