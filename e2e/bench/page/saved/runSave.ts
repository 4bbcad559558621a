import type { BenchDevice } from "../openDevice.js";
import { directoryAt } from "../opfs.js";
import type { Command, Outcome } from "../protocol.js";
import { fillBuffers } from "./fillBuffers.js";
import { savedSet } from "./savedSets.js";
import { type SaveTask, savers } from "./savers.js";

type Saving = Extract<Command, { kind: "save" | "check" }>;

const folder = "bench-saved";

const taskOf = (device: GPUDevice, { set, scale }: Saving): SaveTask => ({
  device,
  description: savedSet(set, scale),
  folder: `${folder}/`,
});

/** Makes a set on the GPU and has a saver save it once into an empty folder, where it stays until it is checked. */
export async function runSave({ device, takeErrors }: BenchDevice, command: Extract<Command, { kind: "save" }>): Promise<Outcome> {
  await removeSaved();
  await directoryAt(folder, { create: true });
  const task = taskOf(device, command);
  const buffers = await fillBuffers(device, task.description);
  const milliseconds = await savers[command.saver].save(task, buffers);
  for (const buffer of buffers.values()) buffer.destroy();
  device.queue.submit([]); // frees what was destroyed
  await device.queue.onSubmittedWorkDone();
  requireNone(takeErrors());
  return { milliseconds };
}

/** @throws Error where what was saved last has other words than it should. */
export async function checkSaved({ device, takeErrors }: BenchDevice, command: Extract<Command, { kind: "check" }>): Promise<void> {
  const wrong = await savers[command.saver].wrongWords(taskOf(device, command));
  await device.queue.onSubmittedWorkDone();
  requireNone(takeErrors());
  if (wrong.length > 0) throw new Error(`${command.saver} saved wrong words: ${wrong.slice(0, 4).join(", ")}`);
  await removeSaved();
}

async function removeSaved(): Promise<void> {
  const root = await navigator.storage.getDirectory();
  await root.removeEntry(folder, { recursive: true }).catch(() => {}); // nothing was saved
}

function requireNone(errors: readonly string[]): void {
  if (errors.length > 0) throw new Error(`the device reports: ${errors.slice(0, 2).join("; ")}`);
}
