import type { Contender, Task } from "./contenders.js";
import { httpFloor } from "./httpFloor.js";
import { opfsFloor } from "./opfsFloor.js";

/** The raw floor: uncompressed bytes, read by the fastest way that there is, and uploaded. */
export const floor = async (task: Task): Promise<Contender> => (task.place === "opfs" ? opfsFloor(task) : httpFloor(task));
