export { bufferUsage } from "../../src/gpu/bufferUsage.js";
export { gpuArray } from "../../src/gpu/gpuArray.js";
export { gpuBufferSize, requiredLimits } from "../../src/gpu/limits.js";
export { readBack } from "../../src/gpu/readBack.js";
export { openUpload } from "../../src/gpu/upload.js";
export { blocksOf, interleave } from "./chunking.js";
export { countBuffers } from "./countBuffers.js";
export { randomFrom } from "./random.js";
export { randomArray, uploadArrays } from "./uploadArrays.js";
