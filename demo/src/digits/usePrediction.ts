import { useEffect, useState } from "preact/hooks";
import type { Classifier } from "./classifier.js";
import { pixelsOf } from "./evaluate.js";
import { probabilities } from "./probabilities.js";

/** Probabilities of the ten digits for an image; undefined where there is no image, or not yet an answer. */
export function usePrediction(classifier: Classifier | undefined, image: Uint8Array | undefined): readonly number[] | undefined {
  const [answer, setAnswer] = useState<readonly number[]>();
  useEffect(() => {
    if (image === undefined) return setAnswer(undefined);
    if (classifier === undefined) return;
    let isLatest = true;
    const take = (value: readonly number[] | undefined) => {
      if (isLatest) setAnswer(value);
    };
    classifier.logits(pixelsOf([image])).then(
      (logits) => take(probabilities(logits)),
      () => take(undefined), // the device is gone, which the session tells
    );
    return () => {
      isLatest = false;
    };
  }, [classifier, image]);
  return answer;
}
