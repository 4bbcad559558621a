import { CorruptCheckpointError, type Corruption } from "../../errors.js";

const advices = {
  damaged: "the ZIP is damaged or incomplete: download or copy it again, and look whether it opens elsewhere",
  harmful: "nothing of the ZIP was taken: if you trust it, unpack it and make a new one of the folder",
  surrounded: "unpack it and make a new ZIP of the folder, or cut those bytes away",
} as const;

/** The error for a ZIP, or an entry of it, that is not as it should be. */
export const zipError = (kind: keyof typeof advices, what: Omit<Corruption, "advice">): CorruptCheckpointError =>
  new CorruptCheckpointError({ ...what, advice: advices[kind] });
