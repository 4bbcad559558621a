import type { OpenedStep } from "orbax-webgpu";
import { Fragment } from "preact";
import type { RestoredLeaf } from "../session/leafValues.js";
import { brief, grouped } from "./numbers.js";

interface LeafTableProps {
  readonly opened: OpenedStep;
  /** The same leaves once they are restored, with their first values. */
  readonly restored: readonly RestoredLeaf[] | undefined;
}

/** Every leaf of the step, by item. */
export function LeafTable({ opened, restored }: LeafTableProps) {
  const values = new Map(restored?.map(({ path, first }) => [path, first]));
  return (
    <table class="leaves">
      <caption>
        {grouped(opened.leaves.length)} leaves of step {opened.step}
      </caption>
      <thead>
        <tr>
          <th scope="col">Path</th>
          <th scope="col">Dtype</th>
          <th scope="col">Shape</th>
          <th scope="col">Bytes</th>
          <th scope="col">First values</th>
        </tr>
      </thead>
      {Object.keys(opened.items).map((item) => (
        <ItemRows key={item} item={item} leaves={opened.leaves.filter(({ path }) => path.split("/")[0] === item)} values={values} />
      ))}
    </table>
  );
}

interface ItemRowsProps {
  readonly item: string;
  readonly leaves: OpenedStep["leaves"];
  readonly values: ReadonlyMap<string, RestoredLeaf["first"]>;
}

function ItemRows({ item, leaves, values }: ItemRowsProps) {
  const bytes = leaves.reduce((sum, leaf) => sum + leaf.bytes, 0);
  return (
    <tbody>
      <tr class="item">
        <th colSpan={5} scope="rowgroup">
          {item} <small>{`${leaves.length} ${leaves.length === 1 ? "leaf" : "leaves"}, ${grouped(bytes)} bytes`}</small>
        </th>
      </tr>
      {leaves.map(({ path, dtype, shape, bytes, kind }) => (
        <tr key={path}>
          <th scope="row">
            <Path path={path} />
          </th>
          <td>{dtype ?? kind}</td>
          <td>{shape === undefined || shape.length === 0 ? "scalar" : shape.join(" × ")}</td>
          <td>{grouped(bytes)}</td>
          <td>{valuesText(values.get(path))}</td>
        </tr>
      ))}
    </tbody>
  );
}

/** A path that may break after each slash. */
const Path = ({ path }: { readonly path: string }) => (
  <code>
    {path.split("/").map((key, index) => (
      <Fragment key={index}>
        {index > 0 && (
          <>
            /<wbr />
          </>
        )}
        {key}
      </Fragment>
    ))}
  </code>
);

const valuesText = (first: RestoredLeaf["first"] | undefined) =>
  first === undefined ? "–" : typeof first === "string" ? first : first.map(brief).join(", ");
