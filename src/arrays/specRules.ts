import { type Rule, shown } from "../arguments.js";
import { isDtype } from "./dtypes.js";

/** Lengths of axes, in elements. */
export const aShape: Rule = {
  expected: "a list of non-negative integers",
  accepts: (value) => Array.isArray(value) && value.every((length) => Number.isSafeInteger(length) && length >= 0),
  shown: (value) => (Array.isArray(value) ? `[${value.map(shown).join(", ").slice(0, 60)}]` : shown(value)),
};

export const aDtype: Rule = {
  expected: 'a dtype by its JAX name, such as "float32"',
  accepts: (value) => typeof value === "string" && isDtype(value),
  shown,
};
