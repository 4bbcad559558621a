/** A buffer of a {@link FakeDevice}. */
export class FakeBuffer {
  readonly label: string;
  readonly size: number;
  readonly usage: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  destroyed = false;
  /** The device could not make it. */
  invalid = false;
  mapState: GPUBufferMapState = "unmapped";

  constructor({ label = "", size, usage }: GPUBufferDescriptor) {
    this.label = label;
    this.size = size;
    this.usage = usage;
    this.bytes = new Uint8Array(size);
  }

  /** This buffer as the package takes it. */
  get gpu(): GPUBuffer {
    return this as unknown as GPUBuffer;
  }

  destroy(): void {
    this.destroyed = true;
  }

  async mapAsync(): Promise<void> {
    this.mapState = "pending";
    await Promise.resolve();
    if (this.destroyed) throw new DOMException("the buffer was destroyed", "AbortError");
    this.mapState = "mapped";
  }

  getMappedRange(offset = 0, size = this.size): ArrayBuffer {
    return this.bytes.buffer.slice(offset, offset + size);
  }

  unmap(): void {
    this.mapState = "unmapped";
  }
}
