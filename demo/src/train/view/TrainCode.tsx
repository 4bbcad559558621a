import { CodeExample } from "../../view/CodeExample.js";

/** What the page does with the library. */
const text = `\
import { mirrored, OrbaxCheckpointStore } from "orbax-webgpu";

const python = new OrbaxCheckpointStore(mirrored(new URL("digits/checkpoints/", location.href), "mirror")); // read once, then from OPFS
const store = new OrbaxCheckpointStore("digits-training", { maxToKeep: 6 }); // a folder of the browser's own files (OPFS)
const latest = await store.latestStep();
const opened = latest === null ? await python.open(1200) : await store.open(latest);
const checkpoint = await opened.restore({ templates }); // weights and moments: a GPUBuffer each

const items = await train(checkpoint.items, 50); // in those buffers; beside them the random key and the data loader
await store.save(opened.step + 50, items, { metrics: { loss }, like: checkpoint }); // read back, written, and only then there`;

/** The library's part of the page, to copy. */
export const TrainCode = () => (
  <section aria-labelledby="code-title">
    <h2 id="code-title">Ten lines to the same steps</h2>
    <p class="lead">
      A save is all or nothing: whatever happens to the tab, each step is as it was before or complete. Python restores it, goes on, and the
      page can go on from what Python saved.
    </p>
    <CodeExample text={text} />
  </section>
);
