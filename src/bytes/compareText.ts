/** Order of two texts by their characters, which is that of their UTF-8 and Python's: negative, 0 or positive. */
export function compareText(first: string, second: string): number {
  const most = Math.min(first.length, second.length);
  for (let index = 0; index < most; index++) {
    const difference = rankOf(first.charCodeAt(index)) - rankOf(second.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}

/** Surrogates stand for characters above U+FFFF, and so come after all other units. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
