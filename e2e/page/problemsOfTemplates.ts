import { type GpuArray, OrbaxCheckpointStore, type ShapeDtypeStruct, shapeDtypeStruct, templateOf } from "orbax-webgpu";
import { gpuBufferSize, gpuByteLength, wholeWords } from "../../src/gpu/limits.js";
import { readBack } from "../../src/gpu/readBack.js";
import { differences } from "../fixtures/expected.js";
import { mapStructs } from "./mapStructs.js";
import { type ExpectedItems, problemsOf } from "./problemsOfStep.js";

/** Templates whose types do not matter here. */
type Templates = Record<string, never>;

/**
 * Restores a step onto templates of what it restores to: once onto new buffers, once into buffers that are there already. A line for
 * each leaf that is not as a restore without templates gives it.
 */
export async function problemsOfTemplates(url: string, step: number, items: ExpectedItems, device: GPUDevice): Promise<string[]> {
  const store = new OrbaxCheckpointStore(url, { enableX64: true });
  const opened = await store.open(step);
  const first = await opened.restore({ device });
  const templates = templateOf<unknown>(first.items) as Templates;
  first.destroy();
  const second = await opened.restore({ templates });
  const problems = await problemsOf(second, items, device);
  second.destroy();
  return [...problems, ...(await problemsOfInto(opened, templates, items))];
}

type Opened = Awaited<ReturnType<OrbaxCheckpointStore["open"]>>;

async function problemsOfInto(opened: Opened, templates: Templates, items: ExpectedItems): Promise<string[]> {
  const given: Given[] = [];
  const into = mapStructs(templates, (struct) => {
    if (struct.device === undefined) return struct;
    const buffer = junkBuffer(struct);
    given.push({ buffer, struct });
    return shapeDtypeStruct(struct.shape, struct.dtype, { device: struct.device, into: buffer });
  }) as Templates;
  const checkpoint = await opened.restore({ templates: into });
  const restored = checkpoint.items as Readonly<Record<string, unknown>>;
  const lines = await Promise.all(Object.entries(items).map(([item, leaves]) => differences(restored[item], leaves)));
  const used = new Set<GPUBuffer>();
  mapStructs(restored, (array) => {
    if ("buffer" in array) used.add((array as unknown as GpuArray).buffer);
    return array;
  });
  checkpoint.destroy();
  const overruns = await Promise.all(given.map((each) => problemsBehind(each, used)));
  for (const { buffer } of given) buffer.destroy();
  return [...lines.flat(), ...overruns.flat()].map((line) => `into, step ${opened.step}: ${line}`);
}

interface Given {
  readonly buffer: GPUBuffer;
  readonly struct: ShapeDtypeStruct;
}

const junk = 0xee;

/** A buffer with room behind the array. */
function junkBuffer({ shape, dtype, device }: ShapeDtypeStruct): GPUBuffer {
  const size = gpuBufferSize({ shape, dtype }) + 32;
  const buffer = (device as GPUDevice).createBuffer({ size, usage: 0x80 | 0x04 | 0x08 });
  (device as GPUDevice).queue.writeBuffer(buffer, 0, new Uint8Array(size).fill(junk));
  return buffer;
}

/** A given buffer is the array's, still there after `destroy`, and behind the array zero up to the next word, then as it was. */
async function problemsBehind({ buffer, struct }: Given, used: ReadonlySet<GPUBuffer>): Promise<string[]> {
  const name = `${struct.dtype}[${struct.shape}]`;
  if (!used.has(buffer)) return [`${name} is not in the given buffer`];
  const bytes = await readBack(struct.device as GPUDevice, buffer, buffer.size);
  const end = gpuByteLength(struct);
  const wrong = bytes.findIndex((byte, index) => index >= end && byte !== (index < wholeWords(end) ? 0 : junk));
  return wrong < 0 ? [] : [`${name}: byte ${wrong} of the given buffer is ${bytes[wrong]}`];
}
