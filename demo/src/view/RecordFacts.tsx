import type { CheckpointMetadata } from "orbax-webgpu";
import { brief } from "./numbers.js";

/** What the checkpoint says about itself. */
export function RecordFacts({ metadata }: { readonly metadata: CheckpointMetadata }) {
  const { step, epoch, metrics, producer, libraries, createdAt } = metadata;
  const rows: [term: string, value: string][] = [
    ["step", String(step)],
    ["epoch", epoch === null ? "none" : String(epoch)],
    ...Object.entries(metrics).map(([name, value]): [string, string] => [name, brief(value)]),
    ["producer", producer === null ? "none" : `${producer.name} ${producer.version}`],
    [
      "libraries",
      Object.entries(libraries)
        .map((pair) => pair.join(" "))
        .join(", "),
    ],
    ["created_at", createdAt.replace(/\.\d+/, "")],
  ];
  return (
    <dl class="record">
      {rows.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
