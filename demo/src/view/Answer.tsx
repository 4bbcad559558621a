import { useEffect, useState } from "preact/hooks";
import { indexOfLargest } from "../digits/probabilities.js";
import { percent } from "./numbers.js";

interface AnswerProps {
  /** Of the ten digits; undefined where nothing is drawn. */
  readonly probabilities: readonly number[] | undefined;
  /** What a screen reader hears while nothing is drawn. */
  readonly otherwise: string;
}

/** How long an answer must stand before it is read out, in milliseconds. */
const settlingTime = 600;

/** The predicted digit, and a bar for each of the ten. */
export function Answer({ probabilities, otherwise }: AnswerProps) {
  const digit = probabilities && indexOfLargest(probabilities);
  const share = digit === undefined ? 0 : (probabilities?.[digit] ?? 0);
  const spoken = useSettled(digit === undefined ? otherwise : `The network reads a ${digit}, ${percent(share, 0)} sure`);
  return (
    <div class="answer">
      <p class="verdict" aria-hidden="true">
        <span class="digit">{digit ?? "–"}</span>
        <span>{digit === undefined ? "Draw a digit from 0 to 9" : `${percent(share)} sure`}</span>
      </p>
      <p class="hidden" role="status">
        {spoken}
      </p>
      <ul class="bars" aria-label="Probability of each digit">
        {Array.from({ length: 10 }, (_, index) => (
          <Bar key={index} digit={index} share={probabilities?.[index]} isBest={index === digit} />
        ))}
      </ul>
    </div>
  );
}

function Bar({ digit, share, isBest }: { readonly digit: number; readonly share: number | undefined; readonly isBest: boolean }) {
  return (
    <li class={isBest ? "best" : undefined}>
      <span>{digit}</span>
      <span class="bar" aria-hidden="true">
        <span class="fill" style={{ transform: `scaleX(${share ?? 0})` }} />
      </span>
      <span>{share === undefined ? "–" : percent(share)}</span>
    </li>
  );
}

/** A text as it is once it has not changed for a while, so that a drawing in the making is not talked over. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settlingTime);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
