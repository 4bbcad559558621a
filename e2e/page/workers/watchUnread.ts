/**
 * Follows what fetch was asked for by ranges from now on and did not hand over yet.
 * @returns the most bytes that were on their way at once.
 */
export function watchUnread(): () => number {
  let unread = 0;
  let peak = 0;
  const bodies = new WeakSet<ReadableStream>();
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(new Headers(init?.headers).get("range") ?? "") ?? [];
    if (last === undefined) return fetch(input, init);
    unread += Number(last) - Number(first) + 1;
    peak = Math.max(peak, unread);
    const response = await fetch(input, init);
    if (response.body !== null) bodies.add(response.body);
    return response;
  };
  const { getReader } = ReadableStream.prototype;
  ReadableStream.prototype.getReader = function (this: ReadableStream, options?: { mode: "byob" }) {
    const reader = getReader.call(this, options as never) as unknown as ReadableStreamBYOBReader;
    if (bodies.has(this)) countReads(reader);
    return reader;
  } as typeof getReader;
  const countReads = (reader: ReadableStreamBYOBReader) => {
    const read = reader.read.bind(reader);
    reader.read = (async (view: Uint8Array<ArrayBuffer>) => {
      const result = await read(view);
      unread -= result.value?.byteLength ?? 0;
      return result;
    }) as typeof reader.read;
  };
  return () => peak;
}
