import { workgroupWords } from "./scatterShader.js";

/** Does what the scatter shader does, one word after the other; the bindings are the shader's. */
export function runScatter(bindings: readonly Uint8Array[], workgroups: number): void {
  const [piece, block, window] = bindings.map((bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (piece === undefined || block === undefined || window === undefined) throw new Error("the shader has three bindings");
  const unit = piece.getUint32(4, true);
  const perWord = 4 / unit;
  for (let word = 0; word < workgroups * workgroupWords; word++) {
    for (let index = 0; index < perWord; index++) {
      const bits = 4 * word < block.byteLength ? (block.getUint32(4 * word, true) >>> (8 * unit * index)) & (2 ** (8 * unit) - 1) : 0;
      place(piece, window, word * perWord + index, bits >>> 0);
    }
  }
}

function place(piece: DataView, window: DataView, number: number, bits: number): void {
  const [units = 0, unit = 0, axisCount = 0, windowStart = 0, windowBytes = 0] = words(piece, 0, 5);
  if (number >= units) return;
  let rest = number;
  let stride = unit;
  let inArray = 0;
  for (let index = axisCount - 1; index >= 0; index--) {
    const [chunk = 0, array = 0, origin = 0, start = 0] = words(piece, 32 + 16 * index, 4);
    const at = origin + ((start + rest) % chunk);
    if (at >= array) return;
    rest = Math.floor((start + rest) / chunk);
    inArray += at * stride;
    stride *= array;
  }
  const byte = inArray - windowStart;
  if (byte < 0 || byte >= windowBytes) return;
  const at = byte - (byte % 4);
  window.setUint32(at, window.getUint32(at, true) | (bits << (8 * (byte % 4))), true);
}

const words = (view: DataView, offset: number, count: number) =>
  Array.from({ length: count }, (_, index) => view.getUint32(offset + 4 * index, true));
