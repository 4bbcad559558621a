import type { ContenderName, Place, SetDescription, SetName } from "../protocol.js";
import { floor } from "./floor.js";
import { mirror } from "./mirror.js";
import { naive } from "./naive.js";
import { ours } from "./ours.js";
import { safetensors } from "./safetensors.js";
import { zarrita } from "./zarrita.js";

/** Arrays that a contender brought onto the GPU. */
export interface Loaded {
  readonly buffers: ReadonlyMap<string, GPUBuffer>;
  free(): void;
}

/** Brings a set onto the GPU; its time counts from the call until the device has all bytes. */
export type Contender = (device: GPUDevice, set: SetDescription) => Promise<Loaded>;

/** What a contender is to read, and where. */
export interface Task {
  readonly set: SetName;
  readonly place: Place;
}

/** Every contender, made ready for a task: what is done once in a page's life does not count. */
export const contenders: Readonly<Record<ContenderName, (task: Task) => Promise<Contender>>> = {
  ours: async (task) => ours(task),
  "mirror-first": (task) => mirror(task, "first"),
  "mirror-second": (task) => mirror(task, "second"),
  floor,
  naive: async (task) => naive(task),
  zarrita: async (task) => zarrita(task, "one by one"),
  "zarrita-together": async (task) => zarrita(task, "together"),
  safetensors: async (task) => safetensors(task),
};
