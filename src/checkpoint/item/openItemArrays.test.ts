import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../storage/memory.js";
import { openCheckpoint } from "../openCheckpoint.js";

// Synthetic items without a database: what TensorStore wrote elsewhere, or a type handler in a way of its own.

const text = (content: unknown) => new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content));
const zarray = { zarr_format: 2, shape: [2], chunks: [2], dtype: "|u1", compressor: null, fill_value: null, filters: null, order: "C" };

/** An item with an array called `there`, and with these names in its tree. */
function item(names: readonly string[], valueType = "np.ndarray", files: Readonly<Record<string, unknown>> = {}) {
  const entry = (key: string) => ({
    key_metadata: [{ key, key_type: 2 }],
    value_metadata: { value_type: key === "there" ? "np.ndarray" : valueType, skip_deserialize: false },
  });
  const tree = Object.fromEntries(["there", ...names].map((name) => [`('${name}',)`, entry(name)]));
  const all = { _METADATA: { tree_metadata: tree, use_ocdbt: false }, "there/.zarray": zarray, "there/0": "ab", ...files };
  return memoryStorage(new Map(Object.entries(all).map(([path, content]) => [path, text(content)])));
}

describe("the array of a leaf", () => {
  it.each(["/abs", "..", "a/../b", "a//b", "lost", "lost\\too"])("called %j that is not in the item is told of", async (name) => {
    await expect(openCheckpoint(item([name]))).rejects.toMatchObject({
      name: "CorruptCheckpointError",
      received: `none for ${JSON.stringify(name)}`,
    });
  });

  it.each([["a\\b"], ["a\\b\\"]])("called %j stands in folders, as TensorStore makes them, or in one of that name", async (name) => {
    const respelled = item([name], "np.ndarray", { "a/b/.zarray": zarray, "a/b/0": "cd" });
    const kept = item([name], "np.ndarray", { [`${name}/.zarray`]: zarray, [`${name}/0`]: "cd" });
    for (const storage of [respelled, kept]) {
      const restored = await (await openCheckpoint(storage)).restore();
      expect(restored).toMatchObject({ there: { data: text("ab") }, [name]: { data: text("cd") } });
    }
  });

  it("that a type handler of the writer's own stored in another way is not read", async () => {
    await expect(openCheckpoint(item(["held"], "example.Held", { "held/state": "x" }))).rejects.toMatchObject({
      name: "UnsupportedCheckpointError",
      message: expect.stringMatching(/leaf "held" has the value type "example.Held".*save it as an array/),
    });
  });
});
