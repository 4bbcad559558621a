import { fetchTestImages } from "../../digits/testImages.js";
import { type GpuProblem, requestGpu } from "../../session/requestGpu.js";
import { fetchImages } from "../data/fetchImages.js";
import { trainerMaker } from "../gpu/trainer.js";
import type { RunContext } from "../run/digitsRun.js";

/** The network's arrays are small: every device's usual limits do. */
const usualLimits = { maxBufferSize: 0, maxStorageBufferBindingSize: 0 };

/** A device and the images to train with, or why there is no device. @throws what fetching the images throws. */
export async function openContext(signal: AbortSignal): Promise<RunContext | GpuProblem> {
  const device = await requestGpu(usualLimits);
  if (typeof device === "string") return device;
  signal.addEventListener("abort", () => device.destroy(), { once: true });
  if (signal.aborted) device.destroy();
  const at = (path: string) => new URL(path, document.baseURI);
  const [bundled, tests] = await Promise.all([
    fetchImages(at("training/images.json"), signal),
    fetchTestImages(at("digits/test-images.json"), signal),
  ]);
  return { device, makeTrainer: trainerMaker(device), bundled, tests };
}
