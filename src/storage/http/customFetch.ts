import { CheckpointValueError } from "../../errors.js";

/**
 * What a `fetch` answered, if it can be read: a caller's own one may answer with anything, or with a response that it read itself.
 * @throws CheckpointValueError
 */
export function requireResponse(response: Response): Response {
  const { status, headers, body } = (response ?? {}) as Partial<Response>;
  if (typeof status !== "number" || typeof headers?.get !== "function") throw wrongAnswer("something else than a Response");
  if (body === null || (typeof body?.getReader === "function" && !body.locked && !response.bodyUsed)) return response;
  throw wrongAnswer("a Response whose body cannot be read, or was read before");
}

/**
 * A piece of a body; a response made of a stream brings whatever that stream holds.
 * @throws CheckpointValueError for anything but a Uint8Array.
 */
export function requirePiece(piece: Uint8Array): Uint8Array {
  // By its tag, since arrays of other realms are as good.
  if (Object.prototype.toString.call(piece) === "[object Uint8Array]") return piece;
  throw wrongAnswer("a body whose pieces are no Uint8Arrays");
}

const wrongAnswer = (what: string) =>
  new CheckpointValueError(
    `the fetch given to httpStorage answered with ${what}; let it answer with an unread Response each time, and clone() one that it keeps`,
  );
