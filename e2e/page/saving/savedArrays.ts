import { type GpuArray, type HostArray, OrbaxCheckpointStore, opfsStorage, type ProgressEvent } from "orbax-webgpu";
import { type Dtype, dtypes, isSavable, narrowed } from "../../../src/arrays/dtypes.js";
import { hostBytes } from "../../../src/arrays/hostArray.js";
import { elementCount } from "../../../src/arrays/spec.js";
import { gpuArray } from "../../../src/gpu/gpuArray.js";
import { readBack } from "../../../src/gpu/readBack.js";
import { countBuffers } from "../countBuffers.js";
import { type Random, randomFrom } from "../random.js";
import { testDevice } from "../testDevice.js";

/** A device with an array of every dtype that Orbax saves, some of no rank or an odd number of bytes, and a large one. */
export interface ArraysToSave {
  readonly device: GPUDevice;
  readonly arrays: Readonly<Record<string, GpuArray>>;
  /** The bytes of each array. */
  readonly bytes: Readonly<Record<string, Uint8Array>>;
}

/** Makes the arrays of random bytes; the large one is float32 and has this many. */
export async function arraysToSave(largeBytes: number): Promise<ArraysToSave> {
  const device = await testDevice();
  const random = randomFrom(5);
  const names = (Object.keys(dtypes) as Dtype[]).filter(isSavable);
  const specs: [string, { readonly shape: readonly number[]; readonly dtype: Dtype }][] = [
    ...names.map(
      (dtype, index) => [dtype, { dtype, shape: [[], [7], [3, 5, 11]][index % 3] ?? [] }] as [string, { dtype: Dtype; shape: number[] }],
    ),
    ["large", { dtype: "float32", shape: [largeBytes / 4 / 1024, 1024] }],
  ];
  const bytes = Object.fromEntries(specs.map(([name, { shape, dtype }]) => [name, elementBytes(random, dtype, elementCount(shape))]));
  const arrays = Object.fromEntries(specs.map(([name, spec]) => [name, onDevice(device, spec, bytes[name] ?? new Uint8Array())]));
  return { device, arrays, bytes };
}

/** Bytes that are elements: booleans are 0 or 1, integers below a byte are within their range. */
function elementBytes(random: Random, dtype: Dtype, count: number): Uint8Array {
  const { itemsize, bits, kind } = dtypes[dtype];
  const bytes = random.bytes(count * itemsize);
  if (bits >= 8) return bytes;
  const isSigned = kind === "int";
  return bytes.map((byte) => (isSigned ? (byte << (32 - bits)) >> (32 - bits) : byte & (2 ** bits - 1)));
}

function onDevice(device: GPUDevice, spec: { readonly shape: readonly number[]; readonly dtype: Dtype }, bytes: Uint8Array): GpuArray {
  const size = Math.max(16, Math.ceil(bytes.byteLength / 16) * 16);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const buffer = device.createBuffer({ size, usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return gpuArray({ spec, device, buffer, owned: true });
}

/** Saves the arrays into a directory, restores them onto the device again; what is different, what it told and what buffers it left. */
export async function saveAndRestore(directory: string, { device, arrays, bytes }: ArraysToSave, compression: "none" | "zstd") {
  const told: ProgressEvent[] = [];
  const buffers = countBuffers(device);
  let mostBuffers = 0;
  let mostBytes = 0;
  const onProgress = (event: ProgressEvent) => {
    told.push(event);
    mostBuffers = Math.max(mostBuffers, buffers().alive);
    mostBytes = Math.max(mostBytes, buffers().aliveBytes);
  };
  const store = new OrbaxCheckpointStore(directory);
  const path = await store.save(1, { model: arrays }, { compression, onProgress });
  const left = buffers();
  const checkpoint = await store.restore(1, { device, enableX64: true });
  const problems: string[] = [];
  for (const [name, expected] of Object.entries(bytes)) {
    const restored = checkpoint.leaf("model", name) as GpuArray | HostArray;
    const given = arrays[name];
    if (restored.dtype !== given?.dtype || restored.shape.join() !== given.shape.join()) problems.push(`${name}: ${restored.dtype}`);
    // Arrays of 64 bits are NumPy's, which restores leave in memory.
    const found = "data" in restored ? hostBytes(restored) : await readBack(device, restored.buffer, restored.byteLength);
    if ("data" in restored !== Object.hasOwn(narrowed, restored.dtype)) problems.push(`${name}: in the wrong place`);
    if (!sameBytes(found, expected)) problems.push(`${name}: other bytes`);
  }
  const totals = new Set(told.map(({ totalBytes }) => totalBytes));
  const grows = told.every(({ loadedBytes }, index) => loadedBytes >= (told[index - 1]?.loadedBytes ?? 0));
  checkpoint.destroy();
  return {
    path,
    problems,
    mostBuffers,
    mostBytes,
    left,
    alive: buffers().alive,
    last: told.at(-1),
    events: told.length,
    totals: [...totals],
    grows,
  };
}

/** Stops a save where half of the bytes were written; what it rejected with, what it left, and what stands in the directory. */
export async function stopHalfway(directory: string, { device, arrays }: ArraysToSave, options: { readonly overwrite: boolean }) {
  const buffers = countBuffers(device);
  const storage = opfsStorage(directory);
  const before = await filesOf(storage, "");
  const stop = new AbortController();
  let stoppedAt = 0;
  const store = new OrbaxCheckpointStore(directory);
  const saving = store.save(
    options.overwrite ? 1 : 2,
    { model: arrays },
    {
      ...options,
      signal: stop.signal,
      onProgress: ({ loadedBytes, totalBytes }) => {
        if (stop.signal.aborted || loadedBytes < totalBytes / 2) return;
        stoppedAt = loadedBytes / totalBytes;
        stop.abort(new Error("enough"));
      },
    },
  );
  const outcome = await saving.then(String, String);
  const after = await filesOf(storage, "");
  return { outcome, stoppedAt, isSame: before.join("\n") === after.join("\n"), after, left: buffers() };
}

/** Paths, sizes and sums of all files below a folder. */
async function filesOf(storage: ReturnType<typeof opfsStorage>, folder: string): Promise<string[]> {
  const { files, directories } = await storage.list(folder);
  const lines = await Promise.all(
    files.map(async (name) => {
      const bytes = (await storage.read(folder + name)) ?? new Uint8Array();
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
      return `${folder}${name} ${bytes.byteLength} ${hash.slice(0, 8).join("")}`;
    }),
  );
  const below = await Promise.all(directories.map((name) => filesOf(storage, `${folder}${name}/`)));
  return [...lines, ...directories.map((name) => `${folder}${name}/`), ...below.flat()].sort();
}

function sameBytes(first: Uint8Array, second: Uint8Array): boolean {
  return first.byteLength === second.byteLength && first.every((byte, index) => byte === second[index]);
}
