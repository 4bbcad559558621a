/** Thrown where a decoder stops at a damaged frame. */
export class ZstdDamage extends Error {}

/**
 * Decodes the parts of one frame, each within one block, as they come. A piece is the caller's until the next one is asked for.
 * @throws ZstdDamage
 */
export type ZstdStream = (parts: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array>;
