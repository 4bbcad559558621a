export { gpuArray } from "../../src/gpu/gpuArray.js";
export { gpuBufferSize, requiredLimits } from "../../src/gpu/limits.js";
export { readBack } from "../../src/gpu/readBack.js";
export { openUpload } from "../../src/gpu/upload.js";
export { countBuffers } from "./countBuffers.js";
export { failureOf, testDevice } from "./testDevice.js";
export { differencesOfUniforms, randomArray, upload, uploadArrays } from "./uploadArrays.js";
