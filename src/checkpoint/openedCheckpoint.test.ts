import { describe, expect, it } from "vitest";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { memoryStorage } from "../storage/memory.js";
import { filesOfStep } from "./fixtureSteps.testing.js";
import { OrbaxCheckpointStore } from "./store.js";

describe("an item of an opened step", () => {
  it("tells where it lies", async () => {
    const opened = await new OrbaxCheckpointStore(memoryStorage(filesOfStep("digits", 400))).open(400);
    expect(opened.items.model).toMatchObject({ step: 400, item: "model", path: "400/model" });
  });

  it("frees every buffer of all its restores", async () => {
    const device = new FakeDevice();
    const opened = await new OrbaxCheckpointStore(memoryStorage(filesOfStep("digits", 400)), { device: device.gpu }).open(400);
    const { model } = opened.items;
    await model?.restore();
    await model?.restore();
    expect(device.alive).toHaveLength(12);
    model?.destroy();
    model?.destroy();
    expect(device.alive).toEqual([]);
  });
});
