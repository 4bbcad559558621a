import { JsonFloat, type JsonValue } from "./json.js";

/** Formats JSON exactly as Python's `json.dumps` does by default: `", "` and `": "`, ASCII only, bare `NaN` and `Infinity`. */
export function formatJson(value: JsonValue): string {
  if (value instanceof JsonFloat) return formatFloat(value.value);
  if (Array.isArray(value)) return `[${value.map(formatJson).join(", ")}]`;
  switch (typeof value) {
    case "string":
      return formatString(value);
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : formatFloat(value);
    case "bigint":
    case "boolean":
      return String(value);
    default:
      if (value === null) return "null";
      return `{${Object.entries(value)
        .map(([key, member]) => `${formatString(key)}: ${formatJson(member)}`)
        .join(", ")}}`;
  }
}

/** A float as Python's `repr` prints it: `1.0`, `1e-07`, `1e+16`. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  // JavaScript and Python print the same shortest digits; only the notation differs.
  const [digits = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  const plain = exponent >= 0 && Number.isInteger(value) ? BigInt(value).toString() : value.toString();
  if (plain.includes("e")) return value.toFixed(Math.max(0, digits.length - 2 - exponent));
  return plain.includes(".") ? plain : `${plain}.0`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

const formatString = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these
  `"${text.replace(/["\\\u0000-\u001f\u007f-\uffff]/g, escapeUnit)}"`;

const escapeUnit = (unit: string): string => shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
