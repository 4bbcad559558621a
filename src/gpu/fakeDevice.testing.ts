import { bufferUsage, hasUsage } from "./bufferUsage.js";
import { FakeBuffer } from "./fakeBuffer.testing.js";
import { runScatter } from "./fakeScatter.testing.js";

/** How a fake device misbehaves. */
export interface FakeDeviceOptions {
  readonly maxBufferSize?: number;
  readonly maxStorageBufferBindingSize?: number;
  /** Called before the buffer with this index is made; says what its error scope reports, or throws. */
  readonly onCreate?: (index: number, descriptor: GPUBufferDescriptor) => GPUErrorFilter | undefined;
  /** Called before each write; as `onCreate`. */
  readonly onWrite?: (index: number) => GPUErrorFilter | undefined;
  /** The device never says that it has done its work. */
  readonly hangs?: boolean;
  /** What error scopes report comes only after this. */
  readonly reports?: Promise<void>;
  /** Popping an error scope of a lost device rejects, as it did in early browsers. */
  readonly rejectsPopAfterLoss?: boolean;
}

/** A device in memory for tests without a GPU: it keeps the rules of buffers, queues and error scopes that this package relies on. */
export class FakeDevice {
  readonly limits: { readonly maxBufferSize: number; readonly maxStorageBufferBindingSize: number };
  readonly lost: Promise<GPUDeviceLostInfo>;
  readonly buffers: FakeBuffer[] = [];
  /** Errors that no scope caught. */
  readonly uncaptured: string[] = [];
  readonly writes: { readonly label: string; readonly offset: number; readonly byteLength: number }[] = [];
  submits = 0;
  /** Most bytes that were written before the device had said that it has taken them. */
  mostUntaken = 0;
  /** Error scopes that were opened so far. */
  scopes = 0;
  dispatches = 0;
  readonly queue = {
    writeBuffer: (buffer: FakeBuffer, offset: number, data: ArrayBufferLike | ArrayBufferView, dataOffset = 0, size?: number) =>
      this.#write(buffer, offset, data, dataOffset, size),
    submit: (commands: readonly (() => void)[]) => {
      this.submits++;
      if (!this.#isLost) for (const run of commands) run();
    },
    onSubmittedWorkDone: () => this.#workDone(),
  };
  readonly #options: FakeDeviceOptions;
  readonly #scopes: { readonly filter: GPUErrorFilter; message?: string }[] = [];
  #lose: (info: GPUDeviceLostInfo) => void = () => {};
  #isLost = false;
  #written = 0;
  #taken = 0;

  constructor(options: FakeDeviceOptions = {}) {
    this.#options = options;
    const { maxBufferSize = 2 ** 28, maxStorageBufferBindingSize = 2 ** 27 } = options;
    this.limits = { maxBufferSize, maxStorageBufferBindingSize };
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  /** This device as the package takes it. */
  get gpu(): GPUDevice {
    return this as unknown as GPUDevice;
  }

  /** Buffers that were not destroyed. */
  get alive(): readonly FakeBuffer[] {
    return this.buffers.filter(({ destroyed }) => !destroyed);
  }

  lose(message = "the driver crashed"): void {
    this.#isLost = true;
    this.#lose({ reason: "unknown", message } as GPUDeviceLostInfo);
  }

  createBuffer(descriptor: GPUBufferDescriptor): FakeBuffer {
    const reported = this.#options.onCreate?.(this.buffers.length, descriptor);
    const buffer = new FakeBuffer(descriptor);
    this.buffers.push(buffer);
    if (reported !== undefined) {
      buffer.invalid = true;
      this.report(reported, `createBuffer failed: ${reported}`);
    }
    if (descriptor.size > this.limits.maxBufferSize) this.report("validation", "the buffer is larger than maxBufferSize");
    return buffer;
  }

  pushErrorScope(filter: GPUErrorFilter): void {
    this.scopes++;
    this.#scopes.push({ filter });
  }

  async popErrorScope(): Promise<{ readonly message: string } | null> {
    const scope = this.#scopes.pop();
    if (scope === undefined) throw new DOMException("the error scope stack is empty", "OperationError");
    await this.#options.reports;
    if (this.#isLost && this.#options.rejectsPopAfterLoss) throw new DOMException("the instance was dropped", "OperationError");
    return scope.message === undefined || this.#isLost ? null : { message: scope.message };
  }

  /** Scopes that are open; 0 whenever nobody is calling. */
  get openScopes(): number {
    return this.#scopes.length;
  }

  report(filter: GPUErrorFilter, message: string): void {
    const scope = this.#scopes.findLast((each) => each.filter === filter);
    if (scope === undefined) this.uncaptured.push(message);
    else scope.message ??= message;
  }

  createShaderModule = () => ({});
  createComputePipeline = () => ({ getBindGroupLayout: () => ({}) });
  createBindGroup = ({ entries }: GPUBindGroupDescriptor) => [...entries].map(({ resource }) => this.#bind(resource as GPUBufferBinding));

  createCommandEncoder() {
    const commands: (() => void)[] = [];
    return {
      copyBufferToBuffer: (from: FakeBuffer, fromOffset: number, to: FakeBuffer, toOffset: number, size: number) => {
        if (!this.#usable(from, bufferUsage.COPY_SRC) || !this.#usable(to, bufferUsage.COPY_DST)) return;
        commands.push(() => to.bytes.set(from.bytes.subarray(fromOffset, fromOffset + size), toOffset));
      },
      clearBuffer: (buffer: FakeBuffer, offset: number, size: number) => {
        if (this.#usable(buffer, bufferUsage.COPY_DST)) commands.push(() => buffer.bytes.fill(0, offset, offset + size));
      },
      beginComputePass: () => this.#computePass(commands),
      finish: () => () => {
        for (const run of commands) run();
      },
    };
  }

  #computePass(commands: (() => void)[]) {
    let bindings: readonly Uint8Array[] = [];
    return {
      setPipeline: () => {},
      setBindGroup: (_: number, group: readonly Uint8Array[]) => {
        bindings = group;
      },
      dispatchWorkgroups: (count: number) => {
        this.dispatches++;
        commands.push(() => runScatter(bindings, count));
      },
      end: () => {},
    };
  }

  #bind({ buffer, offset = 0, size }: GPUBufferBinding): Uint8Array {
    const fake = buffer as unknown as FakeBuffer;
    const bytes = fake.bytes.subarray(offset, size === undefined ? undefined : offset + size);
    if (!hasUsage(fake.usage, bufferUsage.STORAGE) && !hasUsage(fake.usage, bufferUsage.UNIFORM)) this.report("validation", "not bindable");
    if (bytes.byteLength > this.limits.maxStorageBufferBindingSize) this.report("validation", "the binding is too large");
    if (offset % 256 !== 0 || bytes.byteLength % 4 !== 0) this.report("validation", "the binding is misaligned");
    return bytes;
  }

  #write(buffer: FakeBuffer, offset: number, data: ArrayBufferLike | ArrayBufferView, dataOffset: number, size?: number): void {
    const reported = this.#options.onWrite?.(this.writes.length);
    // Offsets into typed arrays count elements; this package gives them only with buffers.
    const given = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
    const bytes = given.subarray(dataOffset, size === undefined ? undefined : dataOffset + size);
    if (bytes.byteLength % 4 !== 0) throw new DOMException("the size is no multiple of 4", "OperationError");
    if (reported !== undefined) this.report(reported, `writeBuffer failed: ${reported}`);
    if (!this.#usable(buffer, bufferUsage.COPY_DST)) return;
    const fits = offset % 4 === 0 && offset + bytes.byteLength <= buffer.size;
    if (!fits) this.report("validation", "the write does not fit");
    this.#written += bytes.byteLength;
    this.mostUntaken = Math.max(this.mostUntaken, this.#written - this.#taken);
    this.writes.push({ label: buffer.label, offset, byteLength: bytes.byteLength });
    if (fits && !this.#isLost) buffer.bytes.set(bytes, offset);
  }

  async #workDone(): Promise<void> {
    const written = this.#written;
    if (this.#options.hangs) await new Promise<void>(() => {});
    await Promise.resolve();
    this.#taken = Math.max(this.#taken, written);
  }

  #usable(buffer: FakeBuffer, usage: number): boolean {
    const usable = !buffer.invalid && !buffer.destroyed && buffer.mapState === "unmapped" && hasUsage(buffer.usage, usage);
    if (!usable) this.report("validation", `buffer ${buffer.label} is invalid, destroyed, mapped or lacks a usage`);
    return usable;
  }
}
