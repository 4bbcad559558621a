import { problemsOfMirror, problemsOfReading } from "./problemsOfReading.js";
import { problemsOfSources } from "./problemsOfSources.js";
import { problemsOfDirectory, problemsOfWriting } from "./problemsOfWriting.js";

/** What the page and a worker do alike. */
export const opfsTasks = { problemsOfReading, problemsOfMirror, problemsOfSources, problemsOfWriting, problemsOfDirectory };

export type OpfsTasks = typeof opfsTasks;
