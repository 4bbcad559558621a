export { conformanceFiles } from "../../../src/storage/conformanceFiles.testing.js";
