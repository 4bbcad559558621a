import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences, withoutMarks } from "../../e2e/fixtures/expected.js";
import { type ExpectedCheckpoint, type Generation, treesOf } from "../../e2e/fixtures/generations.js";
import { nodeStorage } from "../storage/node.js";
import { openCheckpoint } from "./openCheckpoint.js";

// What each version of Orbax wrote comes back leaf by leaf as it was saved, opened by its own folder and found from the folder above.

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data/generations");

const read = (version: string): Generation => JSON.parse(readFileSync(join(fixtures, version, "expected.json"), "utf8"));

const withSteps = ([, { steps }]: [string, ExpectedCheckpoint]) => steps !== undefined;

describe.each(readdirSync(fixtures))("Orbax %s", (version) => {
  const checkpoints = Object.entries(read(version).checkpoints);
  const placeOf = (...path: string[]) => join(fixtures, version, "checkpoints", ...path);
  const storageOf = (...path: string[]) => nodeStorage(placeOf(...path));
  const namesIn = (...path: string[]) => readdirSync(placeOf(...path));

  describe.each(checkpoints)("%s", (name, checkpoint) => {
    it.each(treesOf(checkpoint))("$path", async ({ path, options, leaves }) => {
      const found = await openCheckpoint(storageOf(name), options);
      expect(found.path).toBe(path);
      expect(await differences(await found.restore(), leaves)).toEqual([]);
      if (statSync(placeOf(name, path)).isFile()) return; // Flax's: a storage is a folder
      const direct = await openCheckpoint(storageOf(name, path));
      expect(direct.path).toBe("");
      expect(direct.layout).toEqual(found.layout);
      expect(direct.leaves).toEqual(found.leaves);
      expect(await differences(await direct.restore(), leaves)).toEqual([]);
    });

    it("says how its bytes lie", async () => {
      for (const { path, options } of treesOf({ ...checkpoint, special: {} })) {
        const { layout } = await openCheckpoint(storageOf(name), options);
        if (statSync(placeOf(name, path)).isFile()) {
          expect(layout).toEqual({ tree: "msgpack", arrays: ["msgpack"], zarr: [] });
          continue;
        }
        const files = namesIn(name, path);
        if (files.includes("_METADATA")) expect(layout.tree).toBe("metadata");
        else if (files.includes("checkpoint") && statSync(placeOf(name, path, "checkpoint")).isFile()) expect(layout.tree).toBe("msgpack");
        expect(layout.arrays.includes("ocdbt")).toBe(files.some((file) => file === "manifest.ocdbt" || file.startsWith("ocdbt.process_")));
        const inZarr = layout.arrays.some((place) => place !== "msgpack");
        expect(layout.zarr).toEqual(inZarr ? [name.includes("zarr3") || name.startsWith("v1") ? 3 : 2] : []);
      }
    });
  });

  describe.each(checkpoints.filter(withSteps))(
    "the root %s",
    (name, { steps = {}, json = {}, metrics = {}, rootMetadata, unfinished = [] }) => {
      const items = treesOf({ about: "", ...read(version).checkpoints[name] });
      const someItem = items[0]?.options.item;
      const item = someItem === undefined || items.every(({ options }) => options.item === someItem) ? {} : { item: someItem };

      it("opens at its latest step, which keeps its folder's name", async () => {
        const { kind, step, path } = await openCheckpoint(storageOf(name), item);
        const latest = Math.max(...Object.keys(steps).map(Number));
        expect({ kind, step, folder: path.split("/")[0] }).toEqual({ kind: "root", step: latest, folder: steps[latest] });
      });

      it("has the metrics and the metadata that were given", async () => {
        for (const [step, expected] of Object.entries(metrics)) {
          const { metadata } = await openCheckpoint(storageOf(name), { step: Number(step), ...item });
          expect(metadata.metrics).toEqual(withoutMarks(expected));
          expect(metadata.rootMetadata).toEqual(rootMetadata ?? {});
        }
      });

      it("has JSON items", async () => {
        for (const [jsonItem, value] of Object.entries(json)) {
          const opened = await openCheckpoint(storageOf(name), { item: jsonItem });
          expect(opened.layout.tree).toBe("json");
          expect(await opened.restore()).toEqual(withoutMarks(value));
        }
      });

      it("does not take what a dead save left for a step", async () => {
        for (const folder of unfinished) {
          await expect(openCheckpoint(storageOf(name, folder))).rejects.toThrow(/unfinished/);
          expect((await openCheckpoint(storageOf(name))).step).toBe(3);
        }
      });
    },
  );
});
