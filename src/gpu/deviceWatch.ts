import { DeviceError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { Blame } from "./blame.js";

/**
 * Watches a device during one task. The first thing that goes wrong, be it an error scope's report, the loss of the device or
 * an abort, fails the task: every later call and every wait throws it, so nothing can hang on a device that has gone.
 */
export class DeviceWatch {
  readonly device: GPUDevice;
  readonly #failed: Promise<never>;
  readonly #checks = new Set<Promise<void>>();
  #reject: (error: unknown) => void = () => {};
  #failure: { readonly error: unknown } | undefined;
  readonly #unwatch: () => void;

  constructor(device: GPUDevice, { signal }: TaskContext = {}) {
    this.device = device;
    this.#failed = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#failed.catch(() => {}); // it is a failure only for those who wait
    // The device outlives this task and keeps every reaction to its loss: this one lets go of the task when it ends.
    const link: { watch: DeviceWatch | undefined } = { watch: this };
    device.lost.then((info) => link.watch?.fail(lostError(info)));
    const stop = () => this.fail(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    this.#unwatch = () => {
      link.watch = undefined;
      signal?.removeEventListener("abort", stop);
    };
    if (signal?.aborted) stop();
  }

  /** Fails the task, unless something else did before. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#reject(error);
  }

  /** Throws what failed the task, if anything did. */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /**
   * Makes WebGPU calls inside error scopes. Their reports come later and fail the task; {@link settle} waits for them. The
   * calls must be synchronous, because scopes nest with those of everybody who uses the device.
   */
  guard<Value>(filters: readonly GPUErrorFilter[], blame: Blame, calls: () => Value): Value {
    this.throwIfFailed();
    for (const filter of filters) this.device.pushErrorScope(filter);
    try {
      return calls();
    } catch (cause) {
      const error = thrownError(cause, blame);
      this.fail(error);
      throw error;
    } finally {
      for (const filter of filters.toReversed()) this.#check(filter, blame);
    }
  }

  /** Waits for work on the device, or throws as soon as the task fails. */
  async wait<Value>(work: Promise<Value>, blame: Blame): Promise<Value> {
    try {
      return await Promise.race([work, this.#failed]);
    } catch (cause) {
      this.throwIfFailed();
      await aTurn();
      this.fail(thrownError(cause, blame));
      throw this.#failure?.error;
    }
  }

  /** Waits until all guarded calls so far are known to have succeeded. */
  async settle(): Promise<void> {
    await Promise.race([Promise.all(this.#checks), this.#failed]);
    this.throwIfFailed();
  }

  /** Ends the watch; what happens to the device later is not this task's. */
  close(): void {
    this.#unwatch();
  }

  #check(filter: GPUErrorFilter, blame: Blame): void {
    const check = this.#report(filter, blame).finally(() => this.#checks.delete(check));
    this.#checks.add(check);
  }

  async #report(filter: GPUErrorFilter, blame: Blame): Promise<void> {
    try {
      const error = await this.device.popErrorScope();
      if (error !== null) this.fail(scopeError(filter, error, blame));
    } catch (cause) {
      await aTurn();
      this.fail(thrownError(cause, blame));
    }
  }
}

/** Calls on a lost device fail in many ways, some before its loss is told: that is the better message, so it gets a turn. */
const aTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

function lostError({ reason, message }: GPUDeviceLostInfo): DeviceError {
  const why = [reason, message].filter((text) => text !== undefined && text !== "").join(": ");
  return new DeviceError({
    reason: "lost",
    leaf: "",
    bytes: 0,
    message: `the GPU device was lost (${why}); request a new device and start again`,
  });
}

function scopeError(filter: GPUErrorFilter, error: GPUError, blame: Blame): DeviceError {
  return filter === "out-of-memory" ? outOfMemory(error, blame) : refused(error, blame);
}

// createBuffer throws a RangeError where it cannot allocate on this side of the process border.
const thrownError = (cause: unknown, blame: Blame) => (cause instanceof RangeError ? outOfMemory(cause, blame) : refused(cause, blame));

function outOfMemory(cause: unknown, { leaf, bytes, doing }: Blame): DeviceError {
  const message = `the GPU device ran out of memory ${doing} (${bytes} bytes)${detailOf(cause)}; destroy buffers that are no longer needed, or restore fewer leaves at once`;
  return new DeviceError({ reason: "out-of-memory", leaf, bytes, message, cause });
}

function refused(cause: unknown, { leaf, bytes, doing }: Blame): DeviceError {
  const message = `the GPU device failed ${doing}${detailOf(cause)}; buffers that it is given have to be its own, neither mapped nor destroyed, and usages some that it knows`;
  return new DeviceError({ reason: "validation", leaf, bytes, message, cause });
}

/** First line of what the browser says. */
function detailOf(cause: unknown): string {
  const text = String((cause as { readonly message?: unknown } | undefined)?.message ?? "").split("\n")[0] ?? "";
  return text === "" ? "" : `: ${text}`;
}
