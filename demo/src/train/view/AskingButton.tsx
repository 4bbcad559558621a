import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface AskingButtonProps {
  readonly text: string;
  /** The button's name for who cannot see what it stands beside. */
  readonly name: string;
  readonly disabled: boolean;
  /** Whether something is lost by it. */
  readonly asks: boolean;
  /** What the button says that does it after all, and its name. */
  readonly yes: { readonly text: string; readonly name: string };
  /** The name of the button that does not. */
  readonly no: string;
  act(): void;
}

/** Does something, after it was asked where something would be lost; the focus goes along. */
export function AskingButton({ text, name, disabled, asks, yes, no, act }: AskingButtonProps) {
  const [isAsking, setAsking] = useState<boolean>();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isAsking !== undefined) button.current?.focus();
  }, [isAsking]);
  if (isAsking !== true) {
    return (
      <button type="button" ref={button} disabled={disabled} aria-label={name} onClick={() => (asks ? setAsking(true) : act())}>
        {text}
      </button>
    );
  }
  const confirm = () => {
    setAsking(undefined);
    act();
  };
  return (
    <>
      <button type="button" class="danger" disabled={disabled} aria-label={yes.name} onClick={confirm}>
        {yes.text}
      </button>
      <button type="button" ref={button} aria-label={no} onClick={() => setAsking(false)}>
        Keep
      </button>
    </>
  );
}
