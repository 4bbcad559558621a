import { Decompress } from "fzstd";
import { ZstdDamage } from "./damage.js";

/**
 * fzstd, in plain JavaScript: a fifth of libzstd's speed. It holds the window and one block. It neither verifies content
 * checksums nor notices matches before the frame's start and blocks that decode to too much, and a block made for it can keep it busy
 * for seconds; the decoded length is checked by the caller.
 */
export async function* streamByFzstd(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let blocks: Uint8Array[] = [];
  const decoder = new Decompress((block) => blocks.push(block));
  const push = (part: Uint8Array, isLast: boolean): Uint8Array[] => {
    try {
      decoder.push(part, isLast);
    } catch (cause) {
      throw new ZstdDamage("a damaged block", { cause });
    }
    const ready = blocks;
    blocks = [];
    return ready;
  };
  for await (const part of parts) yield* push(part.slice(), false); // it keeps what is no whole block yet, and the part may be reused by then
  yield* push(new Uint8Array(), true); // it begins no frame of less than 18 bytes before it is told that no more come
}
