import { expect, it } from "vitest";
import type { FetchedBody } from "./fetchedBodies.js";
import { PostedBytes } from "./postedBytes.js";

/** A body that goes on at `start`, and gives pieces of these lengths, filled with where each begins. */
function bodyOf(start: number, ...lengths: readonly number[]) {
  const body = {
    position: start,
    ended: false,
    async next() {
      const length = lengths.length > 0 ? lengths[0] : undefined;
      lengths = lengths.slice(1);
      if (length === undefined) {
        body.ended = true;
        return undefined;
      }
      const piece = new Uint8Array(length).fill(body.position);
      body.position += length;
      return piece;
    },
  };
  return body;
}

function postedBytes(start: number) {
  const bodies: ReturnType<typeof bodyOf>[] = [];
  const returned: ArrayBuffer[] = [];
  const at = (position: number) => bodies.find((body) => body.position === position && !body.ended) as FetchedBody | undefined;
  const posted = new PostedBytes(start, (buffer) => returned.push(buffer), at);
  const post = (offset: number, length: number) => {
    const bytes = new Uint8Array(length + 1).fill(offset, 0, length); // messages need not be full
    posted.add(bytes.buffer, length, offset);
    return bytes.buffer;
  };
  const read = async (offset: number, length: number) => {
    const source = await posted.at({ offset, length });
    const bytes: number[] = [];
    for (let count = -1; count !== 0; ) {
      const some = new Uint8Array(length);
      count = await source.read(some);
      bytes.push(...some.subarray(0, count));
    }
    return bytes;
  };
  const bring = (body: ReturnType<typeof bodyOf>) => {
    bodies.push(body);
    posted.wake();
  };
  return { posted, post, read, bring, returned };
}

it("reads by offset in the file, whatever of it was posted and whatever was fetched here", async () => {
  const { post, read, bring } = postedBytes(10);
  post(10, 3);
  bring(bodyOf(13, 2, 1));
  post(16, 2);
  expect(await read(10, 7)).toEqual([10, 10, 10, 13, 13, 15, 16]);
});

it("waits for the piece that goes on there, though later ones are here already", async () => {
  const { read, bring, post } = postedBytes(0);
  bring(bodyOf(2, 2));
  const reading = read(0, 6);
  bring(bodyOf(4, 0, 2));
  post(0, 2);
  expect(await reading).toEqual([0, 0, 2, 2, 4, 4]);
});

it("goes on after a body that broke off, with one that was fetched again or with bytes that were posted", async () => {
  const { read, bring, post } = postedBytes(0);
  bring(bodyOf(0, 2));
  const reading = read(0, 6);
  bring(bodyOf(2, 1));
  post(3, 3);
  expect(await reading).toEqual([0, 0, 2, 3, 3, 3]);
});

it("gives the memory of each message back when it was read, and at its end all that it has", async () => {
  const { posted, post, read, returned } = postedBytes(0);
  const buffers = [post(0, 2), post(2, 2), post(4, 2)];
  expect(await read(0, 3)).toEqual([0, 0, 2]);
  expect(returned).toEqual(buffers.slice(0, 1));
  posted.close();
  expect(returned).toEqual(buffers);
});

it("ends where nothing more is posted", async () => {
  const { posted, read, bring, post } = postedBytes(0);
  bring(bodyOf(2, 3));
  post(0, 2);
  posted.end();
  expect(await read(0, 9)).toEqual([0, 0, 2, 2, 2]);
});
