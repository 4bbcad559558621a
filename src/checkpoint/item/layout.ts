/** How the bytes of an item lie, as far as an opening finds out. */
export interface ItemLayout {
  /**
   * Where the tree comes from: `_METADATA`, the msgpack file of Orbax before 0.5.21 or of Flax, or only the arrays' own names, which are flat.
   * JSON items have a value in place of a tree.
   */
  readonly tree: "metadata" | "msgpack" | "names" | "json";
  /** Where arrays lie: in OCDBT, in a folder each, or within the msgpack file. Empty where there are none. */
  readonly arrays: readonly ("ocdbt" | "directories" | "msgpack")[];
  /** OCDBT databases: one for the item; one of each process of a save that was never merged; or some in folders of their own. */
  readonly databases?: "single" | "processes" | "folders" | undefined;
  /** Versions of zarr; values of a msgpack file have none. */
  readonly zarr: readonly (2 | 3)[];
}
