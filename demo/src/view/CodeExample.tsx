/** What the page does, in ten lines. */
const lines = (step: number) => `\
import { mirrored, OrbaxCheckpointStore } from "orbax-webgpu";

const store = new OrbaxCheckpointStore(mirrored(new URL("digits/checkpoints/", location.href), "mirror")); // kept in OPFS
const opened = await store.open(${step}); // tree, dtypes, shapes and sizes; no array yet
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice({ requiredLimits: opened.requiredLimits() });

const checkpoint = await opened.restore({ device, onProgress: ({ loadedBytes }) => showBytes(loadedBytes) });
const kernel = checkpoint.leaf("model", "hidden1/kernel/value"); // { buffer, shape: [64, 128], dtype: "float32" }
const entries = [{ binding: 0, resource: { buffer: kernel.buffer } }]; // bound as it is`;

const tokens = /(\/\/.*)|("[^"]*")|\b(import|from|const|await|new)\b|\b(\d+)\b/g;
const kinds = ["comment", "string", "keyword", "number"];

/** The library's use, with the step that the page shows. */
export function CodeExample({ step }: { readonly step: number }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard
    <section class="code" tabIndex={0} aria-label="Ten lines of code">
      <pre>
        <code>{coloured(lines(step))}</code>
      </pre>
    </section>
  );
}

function coloured(text: string) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const kind = kinds[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(text.slice(end, match.index), <span class={kind}>{match[0]}</span>);
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}
