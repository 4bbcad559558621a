import { mirrored } from "orbax-webgpu";
import type { Contender, Task } from "./contenders.js";
import { restoreOurs } from "./ours.js";
import { urlOf } from "./places.js";

/** This package through a mirror: one that has nothing yet, and fills meanwhile, or one that has all since the time that does not count. */
export async function mirror(task: Task, visit: "first" | "second"): Promise<Contender> {
  const place = mirrored(`${urlOf(task)}checkpoints`, `bench/mirror-${visit}`);
  if (visit === "first") await place.remove();
  return (device, set) => restoreOurs(place, device, set);
}
