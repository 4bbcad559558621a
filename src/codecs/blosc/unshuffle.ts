/** Puts bytes that stand by their place in an element back into elements; what is no whole element stays where it is. */
export function unshuffleBytes(shuffled: Uint8Array, into: Uint8Array, elementBytes: number): void {
  const elements = Math.floor(shuffled.length / elementBytes);
  for (let place = 0; place < elementBytes; place++) {
    const row = place * elements;
    for (let element = 0, to = place; element < elements; element++, to += elementBytes) into[to] = shuffled[row + element] ?? 0;
  }
  into.set(shuffled.subarray(elements * elementBytes), elements * elementBytes);
}

/** The same of bits. Blosc leaves blocks alone whose elements are no multiple of 8. */
export function unshuffleBits(shuffled: Uint8Array, into: Uint8Array, elementBytes: number): void {
  const elements = Math.floor(shuffled.length / elementBytes);
  if (elements % 8 !== 0) {
    into.set(shuffled);
    return;
  }
  const rowBytes = elements / 8;
  for (let place = 0; place < elementBytes; place++)
    for (let group = 0; group < rowBytes; group++) {
      const first = place * 8 * rowBytes + group;
      for (let element = 0; element < 8; element++) {
        let byte = 0;
        for (let bit = 0; bit < 8; bit++) byte |= (((shuffled[first + bit * rowBytes] ?? 0) >> element) & 1) << bit;
        into[(group * 8 + element) * elementBytes + place] = byte;
      }
    }
  into.set(shuffled.subarray(elements * elementBytes), elements * elementBytes);
}
