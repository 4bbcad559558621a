import { problemsOfReading } from "./problemsOfReading.js";
import { problemsOfSources } from "./problemsOfSources.js";

/** What the page and a worker do alike. */
export const opfsTasks = { problemsOfReading, problemsOfSources };

export type OpfsTasks = typeof opfsTasks;
