/** Order of two byte strings, as unsigned bytes: negative, 0 or positive. */
export function compareBytes(first: Uint8Array, second: Uint8Array): number {
  const shared = commonPrefixLength(first, second);
  return (first[shared] ?? -1) - (second[shared] ?? -1);
}

/** How many bytes two byte strings have in common at their start. */
export function commonPrefixLength(first: Uint8Array, second: Uint8Array): number {
  const most = Math.min(first.length, second.length);
  let length = 0;
  while (length < most && first[length] === second[length]) length++;
  return length;
}

/** Whether a byte string begins with another. */
export const startsWithBytes = (bytes: Uint8Array, prefix: Uint8Array): boolean => commonPrefixLength(bytes, prefix) === prefix.length;
