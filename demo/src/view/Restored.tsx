import type { Session } from "../session/useSession.js";
import { KernelPicture } from "./KernelPicture.js";
import { LeafTable } from "./LeafTable.js";
import { RecordFacts } from "./RecordFacts.js";

/** What the step holds: its record, the first layer's weights to look at, and every leaf. */
export function Restored({ session: { opened, phase } }: { readonly session: Session }) {
  const restored = phase.kind === "ready" ? phase.restored : undefined;
  return (
    <section aria-labelledby="restored-title">
      <h2 id="restored-title">What was restored</h2>
      <p class="lead">
        The whole training state, not only the weights: optimizer moments, a typed PRNG key and the data loader’s Python values come back as
        they were saved.
      </p>
      <div class="about">
        <figure>
          <KernelPicture kernel={restored?.firstKernel} />
          <figcaption class="quiet">
            <code>model/hidden1/kernel/value</code>, read back from its buffer: what each of the 128 units of the first layer looks for.
          </figcaption>
        </figure>
        {opened && <RecordFacts metadata={opened.metadata} />}
      </div>
      {opened && <LeafTable opened={opened} restored={restored?.leaves} />}
    </section>
  );
}
