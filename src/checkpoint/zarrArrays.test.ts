import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences, type ExpectedLeaf } from "../../e2e/fixtures/expected.js";
import { hostBytes } from "../arrays/hostArray.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { nodeStorage } from "../storage/node.js";
import { fixtureFolder } from "./fixtureSteps.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";

// Single arrays that zarr-python 2 and 3 wrote with each codec, order and key encoding, and TensorStore with shards behind a transpose.

const read = (writer: string): Readonly<Record<string, ExpectedLeaf>> =>
  JSON.parse(readFileSync(join(fixtureFolder, writer, "expected.json"), "utf8")).arrays;

describe.each(["zarr-python/2", "zarr-python/3", "tensorstore/zarr3"])("arrays of %s", (writer) => {
  it("are all known", () => {
    expect(readdirSync(join(fixtureFolder, writer, "arrays")).sort()).toEqual(Object.keys(read(writer)).sort());
  });

  it.each(Object.entries(read(writer)))("%s", async (name, leaf) => {
    const array = await openCheckpoint(nodeStorage(join(fixtureFolder, writer, "arrays", name)));
    const version = writer === "zarr-python/2" || name.startsWith("v2_") ? 2 : 3;
    expect(array.kind).toBe("array");
    expect(array.layout).toMatchObject({ tree: "names", arrays: ["directories"], zarr: [version] });
    expect(array.leaves).toMatchObject([{ path: "", dtype: leaf.dtype, shape: leaf.shape }]);
    expect(await differences(await array.restore(), [leaf])).toEqual([]);
    const device = new FakeDevice();
    const { buffer, byteLength } = await array.read("", { device: device.gpu, enableX64: true });
    const [made] = device.buffers.filter(({ gpu }) => gpu === buffer);
    expect(made?.bytes.slice(0, byteLength)).toEqual(hostBytes(await array.read("")));
    array.destroy();
    expect(device.alive).toEqual([]);
  });
});
