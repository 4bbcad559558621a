import {
  type Dtype,
  type GpuArray,
  OrbaxCheckpointStore,
  type ReadableStorage,
  type RestoreOptions,
  type ShapeDtypeStruct,
  shapeDtypeStruct,
} from "orbax-webgpu";

/** SHA-256 of bytes, in hexadecimal. */
async function hashOf(bytes: BufferSource): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What an array is to become. */
export interface WantedArray {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

/**
 * Restores a step whose only item is a dict of arrays, onto a device; the hash of each array's bytes by its name.
 * @param wanted by name; left out: as they are stored.
 */
export async function restoredHashes(
  directory: string | ReadableStorage,
  step: number,
  device: GPUDevice,
  { wanted, ...options }: RestoreOptions & { readonly wanted?: Readonly<Record<string, WantedArray>> } = {},
): Promise<Record<string, string>> {
  await using store = new OrbaxCheckpointStore(directory, { device, enableX64: true });
  const model: Record<string, ShapeDtypeStruct> = {};
  for (const [name, { shape, dtype }] of Object.entries(wanted ?? {})) model[name] = shapeDtypeStruct(shape, dtype);
  const templates = wanted && { templates: { model } };
  const checkpoint = await store.restore(step, { ...options, ...templates, castDtypes: true });
  const hashes: Record<string, string> = {};
  for (const [name, array] of Object.entries(checkpoint.items.model as Record<string, GpuArray>)) {
    const { data } = await array.read();
    hashes[name] = await hashOf(data as BufferSource);
  }
  checkpoint.destroy();
  return hashes;
}
