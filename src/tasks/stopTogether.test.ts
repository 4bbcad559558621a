import { describe, expect, it } from "vitest";
import { stopTogether } from "./stopTogether.js";

describe("stopTogether", () => {
  it("gives what the work gives, and leaves its signal alone", async () => {
    let inner: AbortSignal | undefined;
    const work = async ({ signal }: { readonly signal?: AbortSignal | undefined }) => {
      inner = signal;
      return 1;
    };
    expect(await stopTogether(work, {})).toBe(1);
    expect(inner?.aborted).toBe(false);
  });

  it("stops what still runs with the failure", async () => {
    let stopped: unknown;
    const failure = new Error("one part failed");
    const work = stopTogether(({ signal }) => {
      signal?.addEventListener("abort", () => {
        stopped = signal.reason;
      });
      return Promise.all([new Promise(() => {}), Promise.reject(failure)]);
    }, {});
    await expect(work).rejects.toBe(failure);
    expect(stopped).toBe(failure);
  });

  it("passes the caller's abort and everything else of the context on", async () => {
    const controller = new AbortController();
    const onProgress = () => {};
    const work = stopTogether(
      async (context) => {
        controller.abort("enough");
        expect(context.signal?.reason).toBe("enough");
        expect(context.onProgress).toBe(onProgress);
      },
      { signal: controller.signal, onProgress },
    );
    await expect(work).rejects.toBe("enough");
  });

  it("does not wait for work that ignores the abort, and starts none after it", async () => {
    const controller = new AbortController();
    const work = stopTogether(() => new Promise(() => {}), { signal: controller.signal });
    controller.abort("enough");
    await expect(work).rejects.toBe("enough");
    let started = false;
    const late = async () => {
      started = true;
    };
    await expect(stopTogether(late, { signal: controller.signal })).rejects.toBe("enough");
    expect(started).toBe(false);
  });
});
