/**
 * Pings the main thread as often as timers allow, every 4 ms, until the returned function is called, which gives the longest time
 * between two pings in milliseconds: at most 4 more than the longest block.
 */
export function startPings(): () => number {
  let last = performance.now();
  let longest = 0;
  let timer: ReturnType<typeof setTimeout>;
  const note = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const ping = () => {
    note();
    timer = setTimeout(ping, 0);
  };
  timer = setTimeout(ping, 0);
  return () => {
    clearTimeout(timer);
    note();
    return longest;
  };
}
