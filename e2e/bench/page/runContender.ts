import { contenders } from "./contenders/contenders.js";
import { watchHeap } from "./heap.js";
import type { BenchDevice } from "./openDevice.js";
import { startPings } from "./pings.js";
import type { Command, Outcome, SetDescription, SetName } from "./protocol.js";
import { wrongWords } from "./wrongWords.js";

const descriptions = new Map<SetName, Promise<SetDescription>>();

function descriptionOf(set: SetName): Promise<SetDescription> {
  const known = descriptions.get(set) ?? fetch(`/data/${set}/set.json`).then((response) => response.json());
  descriptions.set(set, known);
  return known;
}

/**
 * Has a contender bring a set onto the GPU once, and compares words of it there.
 * @throws Error where the GPU holds other words than it should, or reports an error.
 */
export async function runContender({ device, takeErrors }: BenchDevice, command: Extract<Command, { kind: "run" }>): Promise<Outcome> {
  const description = await descriptionOf(command.set);
  const contender = await contenders[command.contender](command);
  const pings = command.watch === "pings" ? startPings() : undefined;
  const heap = command.watch === "heap" ? watchHeap() : undefined;
  const start = performance.now();
  const loaded = await contender(device, description);
  await device.queue.onSubmittedWorkDone();
  const milliseconds = performance.now() - start;
  const longestGap = pings?.();
  const heapUse = await heap?.();
  const wrong = await wrongWords(device, loaded.buffers, description.arrays);
  loaded.free();
  device.queue.submit([]); // frees what was destroyed
  await device.queue.onSubmittedWorkDone();
  const errors = takeErrors();
  if (errors.length > 0) throw new Error(`the device reports: ${errors.slice(0, 2).join("; ")}`);
  if (wrong.length > 0) throw new Error(`${command.contender} brought wrong words to the GPU: ${wrong.slice(0, 4).join(", ")}`);
  return { milliseconds, ...(longestGap === undefined ? {} : { longestGap }), ...heapUse };
}
