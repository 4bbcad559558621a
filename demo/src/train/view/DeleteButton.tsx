import { useEffect, useRef, useState } from "preact/hooks";

interface DeleteButtonProps {
  readonly step: number;
  readonly disabled: boolean;
  confirm(): void;
}

/** Deletes a step, once that was confirmed; the focus goes along. */
export function DeleteButton({ step, disabled, confirm }: DeleteButtonProps) {
  const [asks, setAsks] = useState<boolean>();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asks !== undefined) button.current?.focus();
  }, [asks]);
  if (asks !== true) {
    return (
      <button type="button" ref={button} disabled={disabled} aria-label={`Delete step ${step}`} onClick={() => setAsks(true)}>
        Delete
      </button>
    );
  }
  return (
    <>
      <button type="button" class="danger" disabled={disabled} aria-label={`Delete step ${step} for good`} onClick={confirm}>
        Really delete
      </button>
      <button type="button" ref={button} aria-label={`Keep step ${step}`} onClick={() => setAsks(false)}>
        Keep
      </button>
    </>
  );
}
