import type { Watched } from "./trainState.js";

const channelName = "orbax-webgpu-demo-training";

/** Asks the tab that trains to show itself. */
const hello = "hello";

/** Shows other tabs what this one does: the function that comes back sends it, and whoever asks gets the last that was sent. */
export function showOthers(signal: AbortSignal): (now: Watched) => void {
  const channel = openChannel(signal);
  let last: Watched | undefined;
  channel.addEventListener("message", ({ data }) => {
    if (data === hello && last !== undefined) channel.postMessage(last);
  });
  return (now) => {
    last = now;
    if (!signal.aborted) channel.postMessage(now);
  };
}

/** Calls back with what the tab that trains does, until the signal. */
export function watchOthers(see: (now: Watched) => void, signal: AbortSignal): void {
  const channel = openChannel(signal);
  channel.addEventListener("message", ({ data }: MessageEvent<Watched | typeof hello>) => {
    if (data !== hello) see(data);
  });
  channel.postMessage(hello);
}

function openChannel(signal: AbortSignal): BroadcastChannel {
  const channel = new BroadcastChannel(channelName);
  signal.addEventListener("abort", () => channel.close(), { once: true });
  return channel;
}
