import { useRef } from "preact/hooks";
import type { SavedSteps } from "../session/savedSteps.js";
import type { Training } from "../session/useTraining.js";

interface TakeHomeProps {
  readonly training: Training;
  readonly saved: SavedSteps;
}

/** The way out of the browser and back: all steps as a ZIP, and the steps of one. */
export function TakeHome({ training: { session, activity }, saved }: TakeHomeProps) {
  const picker = useRef<HTMLInputElement>(null);
  const isBusy = activity !== "idle";
  const download = async () => {
    const zip = await session?.export();
    if (zip !== undefined) saveAs(zip, "digits-steps.zip");
  };
  const add = async () => {
    const zip = picker.current?.files?.[0];
    if (zip === undefined || picker.current === null) return;
    picker.current.value = ""; // so that the same file can be picked again
    await session?.import(zip);
  };
  return (
    <div class="actions">
      <button type="button" disabled={isBusy || saved.steps.length === 0} onClick={() => void download()}>
        Download all steps (ZIP)
      </button>
      <button type="button" disabled={isBusy} onClick={() => picker.current?.click()}>
        Add steps from a ZIP…
      </button>
      <input ref={picker} type="file" accept=".zip,application/zip" hidden aria-label="ZIP of steps" onChange={() => void add()} />
    </div>
  );
}

function saveAs(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // once the download has begun
}
