const channelName = "memory made in workers";

/** Shortest memory that counts, in bytes. */
const least = 64 * 1024;

/** Memory that was made to be sent or received. */
export interface MemoryMade {
  /** ArrayBuffers of 64 KiB or more. */
  readonly here: number;
  readonly inWorkers: number;
}

/**
 * Counts the ArrayBuffers that this thread makes from now on, and those that workers make whose script stands in a Blob made from now on.
 * The answer waits for the last word of the workers.
 */
export function watchMemory(): () => Promise<MemoryMade> {
  let here = 0;
  let inWorkers = 0;
  countMemory(least, () => {
    here += 1;
  });
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = () => {
    inWorkers += 1;
  };
  const report = `{
    const channel = new BroadcastChannel(${JSON.stringify(channelName)});
    (${countMemory})(${least}, () => channel.postMessage("made"));
  }`;
  globalThis.Blob = class extends globalThis.Blob {
    constructor(parts: BlobPart[] = [], options: BlobPropertyBag = {}) {
      super(options.type?.includes("javascript") ? [report, ...parts] : parts, options);
    }
  };
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { here, inWorkers };
  };
}

/** Stands by itself, as it is sent to workers as text. */
function countMemory(least: number, onMade: () => void): void {
  globalThis.ArrayBuffer = new Proxy(globalThis.ArrayBuffer, {
    construct(target, [byteLength]: [number]) {
      if (byteLength >= least) onMade();
      return new target(byteLength);
    },
  });
}
