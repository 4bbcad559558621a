import type { Codec } from "./codec.js";
import { checkLength, withinLength } from "./decodedLength.js";

/** Bytes that were stored as they are; the answer is the value itself, not a copy. */
export const none: Codec = {
  name: "none",
  async decode(bytes, request, context) {
    context?.signal?.throwIfAborted();
    checkLength("none", bytes.length, request);
    return bytes;
  },
  stream: (pieces, request, context) => withinLength("none", pieces, request, context),
};
