import { isCheckpointError, type OpenedStep, OrbaxCheckpointStore, type ProgressEvent } from "orbax-webgpu";
import { digitsClassifier } from "../digits/classifier.js";
import { evaluate } from "../digits/evaluate.js";
import { digitsTemplate } from "../digits/model.js";
import { fetchTestImages } from "../digits/testImages.js";
import { bundledSteps, checkpoints, mirror } from "./bundled.js";
import { tellKept } from "./keptOnDevice.js";
import { leafValues } from "./leafValues.js";
import { requestGpu } from "./requestGpu.js";
import type { RestoredDigits, SessionState } from "./sessionState.js";
import { forgetTraffic, trafficSoFar } from "./traffic.js";

/** Takes over what a session has found out. */
export type Update = (change: Partial<SessionState>) => void;

/**
 * Restores a step onto the GPU and checks it on the test images; tells about each stage, failures too, and never throws.
 * @param wanted the step; undefined for the latest one.
 * @param signal ends the session and frees what it holds on the GPU.
 */
export async function runSession(wanted: number | undefined, update: Update, signal: AbortSignal): Promise<void> {
  const told: Update = (change) => {
    if (!signal.aborted) update(change);
  };
  try {
    told({ phase: { kind: "opening" }, check: { kind: "waiting" } });
    const restored = await restoreStep(wanted, told, signal);
    void tellKept((kept) => told({ kept })).catch(() => undefined);
    if (restored !== undefined) await checkAgainstFlax(restored, told, signal);
  } catch (cause) {
    const error = errorOf(cause);
    const isLost = isCheckpointError(error, "Device") && error.reason === "lost";
    told({ phase: isLost ? { kind: "lost", message: error.message } : { kind: "failed", error } });
  }
}

async function restoreStep(wanted: number | undefined, told: Update, signal: AbortSignal) {
  forgetTraffic();
  const started = performance.now();
  const store = new OrbaxCheckpointStore(mirror);
  const steps = await listSteps(store, signal);
  const step = wanted ?? steps.at(-1) ?? 0;
  told({ steps, step });

  const opened = await store.open(step, { signal });
  told({ opened });

  const device = await requestGpu(opened.requiredLimits());
  if (typeof device === "string") {
    told({ phase: { kind: "no-gpu", problem: device } });
    return undefined;
  }
  watch(device, told, signal);
  const onProgress = (progress: ProgressEvent) => told({ phase: { kind: "restoring", progress } });
  const restored = await restoreOnto(device, opened, { started, signal, onProgress });
  told({ phase: { kind: "ready", restored } });
  return { step, restored };
}

/** Removes what is kept on this device. */
export async function removeKept(update: Update): Promise<void> {
  await mirror.remove();
  update({ kept: undefined });
}

/** Frees everything on the device when the session ends, and tells when the device is gone before. */
function watch(device: GPUDevice, told: Update, signal: AbortSignal): void {
  signal.addEventListener("abort", () => device.destroy());
  if (signal.aborted) device.destroy();
  void device.lost.then(({ message }) => told({ phase: { kind: "lost", message: message || "the browser gave no reason" } }));
}

interface RestoreContext {
  readonly started: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ProgressEvent) => void;
}

async function restoreOnto(device: GPUDevice, opened: OpenedStep, { started, ...context }: RestoreContext): Promise<RestoredDigits> {
  let totalBytes = 0;
  const checkpoint = await opened.restore({
    device,
    templates: { model: digitsTemplate(device) },
    signal: context.signal,
    onProgress: (progress) => {
      totalBytes = progress.totalBytes;
      context.onProgress(progress);
    },
  });
  const milliseconds = performance.now() - started;
  const { model } = checkpoint.items;
  return {
    classifier: digitsClassifier(device, model),
    leaves: await leafValues(checkpoint, opened.leaves, context.signal),
    firstKernel: (await model.hidden1.kernel.value.read({ signal: context.signal })).data,
    totalBytes,
    milliseconds,
    traffic: trafficSoFar(),
  };
}

/** The steps there are; the bundled ones where the server does not list its folders. */
async function listSteps(store: OrbaxCheckpointStore, signal: AbortSignal): Promise<readonly number[]> {
  try {
    return await store.listSteps({ signal });
  } catch (error) {
    if (isCheckpointError(error, "Storage") && error.reason === "cannot-list") return bundledSteps;
    throw error;
  }
}

async function checkAgainstFlax({ step, restored }: { step: number; restored: RestoredDigits }, told: Update, signal: AbortSignal) {
  try {
    const tests = await fetchTestImages(new URL("../test-images.json", checkpoints), signal);
    told({ tests });
    told({ check: { kind: "done", evaluation: await evaluate(restored.classifier, tests, step) } });
  } catch (cause) {
    told({ check: { kind: "failed", error: errorOf(cause) } });
  }
}

const errorOf = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));
