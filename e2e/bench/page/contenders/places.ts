import { opfsFolder } from "../opfs.js";
import type { Task } from "./contenders.js";

/** URL of a set's folder on the server, with a slash at its end. */
export const urlOf = ({ set, place }: Task): string => new URL(`/${place === "slow" ? "slow" : "data"}/${set}/`, location.href).href;

/** Path of a set's folder in the private file system, with a slash at its end. */
export const pathOf = ({ set }: Task): string => `${opfsFolder(set)}/`;
