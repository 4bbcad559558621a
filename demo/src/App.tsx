import { useSession } from "./session/useSession.js";
import { CodeExample } from "./view/CodeExample.js";
import { Demo } from "./view/Demo.js";
import { Hero } from "./view/Hero.js";
import { Restored } from "./view/Restored.js";

/** What the page does, in ten lines, with the step that it shows. */
const lines = (step: number) => `\
import { mirrored, OrbaxCheckpointStore } from "orbax-webgpu";

const store = new OrbaxCheckpointStore(mirrored(new URL("digits/checkpoints/", location.href), "mirror")); // kept in OPFS
const opened = await store.open(${step}); // tree, dtypes, shapes and sizes; no array yet
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice({ requiredLimits: opened.requiredLimits() });

const checkpoint = await opened.restore({ device, onProgress: ({ loadedBytes }) => showBytes(loadedBytes) });
const kernel = checkpoint.leaf("model", "hidden1/kernel/value"); // { buffer, shape: [64, 128], dtype: "float32" }
const entries = [{ binding: 0, resource: { buffer: kernel.buffer } }]; // bound as it is`;

/** The page. */
export function App() {
  const session = useSession();
  return (
    <>
      <a class="skip" href="#demo">
        Skip to the demo
      </a>
      <Hero />
      <main>
        <Demo session={session} />
        <section aria-labelledby="code-title">
          <h2 id="code-title">Ten lines to the same buffers</h2>
          <p class="lead">
            A step is opened with a few small reads, and every shape, dtype and size is known before a device exists. The restore streams
            each array into a buffer of its own; a dtype that differs from what you asked for is an error, never a silent cast.
          </p>
          <CodeExample text={lines(session.step ?? 1200)} />
        </section>
        <Restored session={session} />
      </main>
      <footer>
        <p>
          orbax-webgpu, Apache-2.0. The checkpoints were written by Flax NNX, Optax and substrax in Python; the digits are scikit-learn’s.
        </p>
      </footer>
    </>
  );
}
