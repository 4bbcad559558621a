export { nodeStorage } from "./storage/node.js";
