// @ts-check

/**
 * What the training page leaves in `window.orbaxTrainReport`.
 * @typedef {object} TrainReport
 * @property {"busy" | "ready" | "error"} status
 * @property {string | undefined} [message] What went wrong.
 * @property {number | undefined} [step] The step that the run has come to.
 * @property {number | undefined} [start] The step before the first loss.
 * @property {readonly number[] | undefined} [losses] The loss of every step from there.
 * @property {readonly number[] | undefined} [saved] Steps that are saved.
 */

/**
 * Both curves as text, and whether they agree in every bit.
 * @param {{ start: number, uninterrupted: readonly number[], resumed: readonly number[] }} curves Losses of the steps after `start`.
 * @returns {{ text: string, agree: boolean }}
 */
export function compareCurves({ start, uninterrupted, resumed }) {
  const same = uninterrupted.map((loss, index) => Object.is(loss, resumed[index]));
  const agree = same.length > 0 && resumed.length === uninterrupted.length && same.every((is) => is);
  const rows = uninterrupted.map((loss, index) => {
    const step = String(start + index + 1).padStart(5);
    return `${step}  ${shown(loss)}  ${shown(resumed[index])}  ${same[index] ? "" : "not the same"}`.trimEnd();
  });
  const verdict = agree
    ? `the losses agree: the same bits in all ${same.length} steps`
    : `the losses do not agree: the same bits in ${same.filter((is) => is).length} of ${Math.max(same.length, resumed.length)} steps`;
  return { text: [" step  uninterrupted        resumed", ...rows, "", verdict].join("\n"), agree };
}

const shown = (/** @type {number | undefined} */ loss) => (loss === undefined ? "–" : loss.toPrecision(9)).padStart(13);
