/** Cuts a stream of bytes into pieces of whole elements; only an element that lies across two pieces makes a copy. */
export async function* wholeElements(pieces: AsyncIterable<Uint8Array>, itemsize: number): AsyncGenerator<Uint8Array> {
  let rest = new Uint8Array(0);
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : joined(rest, piece);
    const whole = bytes.length - (bytes.length % itemsize);
    rest = bytes.slice(whole);
    if (whole > 0) yield bytes.subarray(0, whole);
  }
  if (rest.length > 0) yield rest;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}
