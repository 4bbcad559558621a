/** Most axes that the shader takes, after folding. */
export const mostAxes = 32;

/** Words that one workgroup takes. */
export const workgroupWords = 64;

/** Bytes of the uniform `Piece`. */
export const pieceBytes = 32 + 16 * mostAxes;

/**
 * Copies the units of a block to their places in an array. Each invocation takes one word of the block; atomics merge the bytes
 * of words that several invocations, or several blocks, share. So the array must be zero where the block goes.
 */
export const scatterShader = /* wgsl */ `
struct Piece {
  units: u32,        // units of the block that count
  unit: u32,         // bytes of a unit: 1, 2 or 4
  axisCount: u32,
  windowStart: u32,  // bytes of the array that the binding holds: first, and how many
  windowBytes: u32,
  axes: array<vec4u, ${mostAxes}>,  // of each axis: chunk, array, origin, start
}

@group(0) @binding(0) var<uniform> piece: Piece;
@group(0) @binding(1) var<storage, read> block: array<u32>;
@group(0) @binding(2) var<storage, read_write> window: array<atomic<u32>>;

@compute @workgroup_size(${workgroupWords})
fn scatter(@builtin(global_invocation_id) id: vec3u) {
  let word = block[id.x];
  if (piece.unit == 4u) {
    place(id.x, word);
    return;
  }
  let perWord = 4u / piece.unit;
  for (var index = 0u; index < perWord; index++) {
    place(id.x * perWord + index, extractBits(word, index * piece.unit * 8u, piece.unit * 8u));
  }
}

fn place(unit: u32, bits: u32) {
  if (unit >= piece.units) { return; }
  var rest = unit;
  var stride = piece.unit;
  var inArray = 0u;
  for (var index = piece.axisCount; index > 0u; index--) {
    let axis = piece.axes[index - 1u];
    let chunk = axis.x;
    let size = axis.y;
    let along = axis.w + rest;
    rest = along / chunk;
    let at = axis.z + along - rest * chunk;
    if (at >= size) { return; }  // the chunk reaches over the array's edge
    inArray += at * stride;
    stride *= size;
  }
  let byte = inArray - piece.windowStart;  // wraps around below the window
  if (byte >= piece.windowBytes) { return; }
  atomicOr(&window[byte / 4u], bits << (byte % 4u * 8u));
}
`;
