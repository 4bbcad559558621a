import { problemsOfReading } from "./problemsOfReading.js";
import { problemsOfSources } from "./problemsOfSources.js";
import { problemsOfDirectory, problemsOfWriting } from "./problemsOfWriting.js";

/** What the page and a worker do alike. */
export const opfsTasks = { problemsOfReading, problemsOfSources, problemsOfWriting, problemsOfDirectory };

export type OpfsTasks = typeof opfsTasks;
