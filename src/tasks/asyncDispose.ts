const known = Symbol.asyncDispose as typeof Symbol.asyncDispose | undefined;

/** `Symbol.asyncDispose`; where the browser has none, as Safari 26, what a compiled `await using` looks for instead. */
export const asyncDispose: typeof Symbol.asyncDispose = known ?? (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);
