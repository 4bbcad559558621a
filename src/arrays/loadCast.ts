/** What casts, for those who cast: most restores do not. In a module of its own so that bundlers see one place that loads it. */
export const loadCast = (): Promise<typeof import("./cast.js")> => import("./cast.js");
