import type { TestProject } from "vitest/node";
import { packedProject } from "./packedProject.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** A project that has the packed package and its dependencies installed. */
    consumer: string;
    /** The packed package. */
    tarball: string;
  }
}

/** Packs the built package once and installs it into a temporary project. */
export default async function installPacked(project: TestProject): Promise<() => void> {
  const { consumer, tarball, remove } = await packedProject();
  project.provide("consumer", consumer);
  project.provide("tarball", tarball);
  return remove;
}
