import { randomUUID } from "node:crypto";
import { formatPartialName, partialOwner } from "../partialName.js";
import { hasEnded, parseProcess, thisProcess } from "./processes.js";

/** A name for a file that this process is going to fill (Node). */
export const partialName = (): string => formatPartialName(Buffer.from(JSON.stringify(thisProcess())).toString("base64url"), randomUUID());

/** True for a file that a process was filling which has ended; false for one that somebody else named. */
export function isAbandoned(name: string): boolean {
  const owner = parseProcess(Buffer.from(partialOwner(name) ?? "", "base64url").toString());
  return owner !== undefined && hasEnded(owner);
}
