// Each invocation makes one number, and adds up in an order that never changes: the same bits in every run on the same device.

/** Invocations a workgroup. */
export const workgroupSize = 64;

/** `values · kernel + bias` for all rows of a batch, with relu where a layer has it. */
export const forwardShader = /* wgsl */ `
override rows: u32;
override inputs: u32;
override outputs: u32;
override relu: bool;

@group(0) @binding(0) var<storage, read> values: array<f32>;        // [rows, inputs]
@group(0) @binding(1) var<storage, read> kernel: array<f32>;        // [inputs, outputs]: the restored buffer itself
@group(0) @binding(2) var<storage, read> bias: array<f32>;          // [outputs]: the restored buffer itself
@group(0) @binding(3) var<storage, read_write> result: array<f32>;  // [rows, outputs]

@compute @workgroup_size(${workgroupSize})
fn forward(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x / outputs;
  let output = id.x % outputs;
  if (row >= rows) { return; }
  var sum = bias[output];
  for (var input = 0u; input < inputs; input++) {
    sum += values[row * inputs + input] * kernel[input * outputs + output];
  }
  result[id.x] = select(sum, max(sum, 0.0), relu);
}`;

/** Softmax cross-entropy: each row's loss, its gradient by the logits, and then the mean of the losses. */
export const lossShader = /* wgsl */ `
override rows: u32;
override classes: u32;

@group(0) @binding(0) var<storage, read> logits: array<f32>;          // [rows, classes]
@group(0) @binding(1) var<storage, read> labels: array<u32>;          // [rows]
@group(0) @binding(2) var<storage, read_write> gradient: array<f32>;  // [rows, classes], of the mean loss
@group(0) @binding(3) var<storage, read_write> losses: array<f32>;    // [rows]
@group(0) @binding(4) var<storage, read_write> loss: array<f32>;      // [1]

@compute @workgroup_size(${workgroupSize})
fn crossEntropy(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  if (row >= rows) { return; }
  let first = row * classes;
  var largest = logits[first];
  for (var digit = 1u; digit < classes; digit++) { largest = max(largest, logits[first + digit]); }
  var sum = 0.0;
  for (var digit = 0u; digit < classes; digit++) { sum += exp(logits[first + digit] - largest); }
  losses[row] = log(sum) + largest - logits[first + labels[row]];
  for (var digit = 0u; digit < classes; digit++) {
    let wanted = select(0.0, 1.0, digit == labels[row]);
    gradient[first + digit] = (exp(logits[first + digit] - largest) / sum - wanted) / f32(rows);
  }
}

@compute @workgroup_size(1)
fn mean() {
  var sum = 0.0;
  for (var row = 0u; row < rows; row++) { sum += losses[row]; }
  loss[0] = sum / f32(rows);
}`;

/** The gradients of a layer of the gradient by its result. */
export const backwardShader = /* wgsl */ `
override rows: u32;
override inputs: u32;
override outputs: u32;

@group(0) @binding(0) var<storage, read> gradient: array<f32>;              // [rows, outputs], by the layer's result
@group(0) @binding(1) var<storage, read> values: array<f32>;                // [rows, inputs]
@group(0) @binding(2) var<storage, read> kernel: array<f32>;                // [inputs, outputs]
@group(0) @binding(3) var<storage, read_write> ofKernel: array<f32>;        // [inputs, outputs]
@group(0) @binding(4) var<storage, read_write> ofBias: array<f32>;          // [outputs]
@group(0) @binding(5) var<storage, read_write> ofValues: array<f32>;        // [rows, inputs]

@compute @workgroup_size(${workgroupSize})
fn kernelGradient(@builtin(global_invocation_id) id: vec3u) {
  let input = id.x / outputs;
  let output = id.x % outputs;
  if (input >= inputs) { return; }
  var sum = 0.0;
  for (var row = 0u; row < rows; row++) {
    sum += values[row * inputs + input] * gradient[row * outputs + output];
  }
  ofKernel[id.x] = sum;
}

@compute @workgroup_size(${workgroupSize})
fn biasGradient(@builtin(global_invocation_id) id: vec3u) {
  let output = id.x;
  if (output >= outputs) { return; }
  var sum = 0.0;
  for (var row = 0u; row < rows; row++) { sum += gradient[row * outputs + output]; }
  ofBias[output] = sum;
}

// By the result of the layer below, whose relu lets nothing through where it gave zero.
@compute @workgroup_size(${workgroupSize})
fn valuesGradient(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x / inputs;
  let input = id.x % inputs;
  if (row >= rows) { return; }
  var sum = 0.0;
  for (var output = 0u; output < outputs; output++) {
    sum += gradient[row * outputs + output] * kernel[input * outputs + output];
  }
  ofValues[id.x] = select(0.0, sum, values[id.x] > 0.0);
}`;

/** One step of optax.adam with its usual decays. */
export const adamShader = /* wgsl */ `
override size: u32;

struct Rates { learningRate: f32, ofFirst: f32, ofSecond: f32 }

@group(0) @binding(0) var<uniform> rates: Rates;                          // ofFirst = 1 - 0.9^count, ofSecond = 1 - 0.999^count
@group(0) @binding(1) var<storage, read> gradient: array<f32>;
@group(0) @binding(2) var<storage, read_write> weights: array<f32>;       // these three: the restored buffers themselves
@group(0) @binding(3) var<storage, read_write> first: array<f32>;         // mu
@group(0) @binding(4) var<storage, read_write> second: array<f32>;        // nu

@compute @workgroup_size(${workgroupSize})
fn adam(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= size) { return; }
  let slope = gradient[id.x];
  let mu = (1.0 - 0.9) * slope + 0.9 * first[id.x];
  let nu = (1.0 - 0.999) * (slope * slope) + 0.999 * second[id.x];
  first[id.x] = mu;
  second[id.x] = nu;
  weights[id.x] -= rates.learningRate * (mu / rates.ofFirst) / (sqrt(nu / rates.ofSecond) + 1e-8);
}`;
