/** Why a zstd frame does not decode, or not to what was asked for; the message is what stands there. */
export class ZstdDamage extends Error {
  override readonly name = "ZstdDamage";
  /** What had to stand there. */
  readonly expected: string;
  /** Byte of the frame at which that showed. */
  readonly at: number;

  constructor(received: string, { expected = "a zstd frame", at = 0, cause }: { expected?: string; at?: number; cause?: unknown } = {}) {
    super(received, cause === undefined ? undefined : { cause });
    this.expected = expected;
    this.at = at;
  }
}
