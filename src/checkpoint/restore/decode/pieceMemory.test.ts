import { describe, expect, it } from "vitest";
import { PieceMemory } from "./pieceMemory.js";

describe("PieceMemory", () => {
  it("makes as many pieces as it may, then waits for one to come back", async () => {
    const memory = new PieceMemory({ byteLength: 8, count: 2 });
    const first = await memory.take();
    await memory.take();
    let third: ArrayBuffer | undefined;
    const waiting = Promise.resolve(memory.take()).then((buffer) => {
      third = buffer;
    });
    await Promise.resolve();
    expect(third).toBeUndefined();
    memory.giveBack(first);
    await waiting;
    expect(third).toBe(first);
  });

  it("uses memory again that came back", async () => {
    const memory = new PieceMemory({ byteLength: 8, count: 2 });
    const first = await memory.take();
    memory.giveBack(first);
    expect(await memory.take()).toBe(first);
  });

  it("lets go of pieces of another size", async () => {
    const memory = new PieceMemory({ byteLength: 8, count: 1 });
    const short = await memory.take();
    memory.resize({ byteLength: 16, count: 1 });
    const long = await memory.take();
    expect(long.byteLength).toBe(16);
    memory.giveBack(short);
    let given = false;
    Promise.resolve(memory.take()).then(() => {
      given = true;
    });
    await Promise.resolve();
    expect(given).toBe(false);
  });
});
