import { CheckpointValueError } from "../../errors.js";

/** A character of a glob; one behind a backslash only stands for itself. */
interface Character {
  readonly text: string;
  readonly isEscaped: boolean;
}

/** A run of any characters within a part of the path, or a test of one. */
type PartStep = "any" | ((character: string) => boolean);

/** A run of any parts of the path, or the steps of one. */
type PathStep = "any" | readonly PartStep[];

/** Alternatives that braces may make. */
const mostAlternatives = 1000;

/**
 * Compiles a glob over paths whose parts are joined with `/`: `*` and `?` stand for characters of one part, `**` for any number of parts,
 * `{a,b}` for either, `[a-z]` and `[!a-z]` for one character; `\` takes the meaning from the next one. The whole path has to match, letter case
 * and leading dots included. It takes time in proportion to the lengths of both, whatever they are.
 * @throws CheckpointValueError for braces or brackets without end, and more than a thousand alternatives.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const alternatives = expandBraces(charactersOf(glob), glob).map((characters) => pathSteps(characters, glob));
  return (path) => {
    const parts = path.split("/").map((part) => Array.from(part));
    return alternatives.some((steps) =>
      matchSteps(steps, parts, (step, part) => matchSteps(step, part, (test, character) => test(character))),
    );
  };
}

function charactersOf(glob: string): Character[] {
  const characters: Character[] = [];
  let isEscaped = false;
  for (const text of glob) {
    if (text === "\\" && !isEscaped) isEscaped = true;
    else {
      characters.push({ text, isEscaped });
      isEscaped = false;
    }
  }
  return characters;
}

const isSign = (character: Character | undefined, sign: string): boolean => character?.text === sign && !character.isEscaped;

/** Takes the last, innermost braces apart until there are none. */
function expandBraces(characters: readonly Character[], glob: string): (readonly Character[])[] {
  const done: (readonly Character[])[] = [];
  const left = [characters];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const open = next.findLastIndex((character) => isSign(character, "{"));
    if (open < 0) {
      done.push(next);
      continue;
    }
    const close = next.findIndex((character, index) => index > open && isSign(character, "}"));
    if (close < 0) throw new CheckpointValueError(`${JSON.stringify(glob)}: a { without its }; write \\{ for the character itself`);
    for (const choice of splitAt(next.slice(open + 1, close), ",").reverse())
      left.push([...next.slice(0, open), ...choice, ...next.slice(close + 1)]);
    if (left.length + done.length > mostAlternatives)
      throw new CheckpointValueError(`${JSON.stringify(glob)}: its braces make more than ${mostAlternatives} alternatives; use a function`);
  }
  return done;
}

function splitAt(characters: readonly Character[], sign: string): Character[][] {
  const parts: Character[][] = [[]];
  for (const character of characters) {
    if (isSign(character, sign)) parts.push([]);
    else parts.at(-1)?.push(character);
  }
  return parts;
}

const pathSteps = (characters: readonly Character[], glob: string): PathStep[] =>
  splitAt(characters, "/").map((part) =>
    part.length === 2 && part.every((character) => isSign(character, "*")) ? "any" : partSteps(part, glob),
  );

function partSteps(part: readonly Character[], glob: string): PartStep[] {
  const steps: PartStep[] = [];
  for (let index = 0; index < part.length; index++) {
    const character = part[index];
    if (isSign(character, "*")) steps.push("any");
    else if (isSign(character, "?")) steps.push(() => true);
    else if (isSign(character, "[")) {
      const close = part.findIndex((other, at) => at > index + 1 && isSign(other, "]"));
      if (close < 0) throw new CheckpointValueError(`${JSON.stringify(glob)}: a [ without its ]; write \\[ for the character itself`);
      steps.push(characterClass(part.slice(index + 1, close)));
      index = close;
    } else steps.push((other) => other === character?.text);
  }
  return steps;
}

function characterClass(characters: readonly Character[]): (character: string) => boolean {
  const isNegated = isSign(characters[0], "!") || isSign(characters[0], "^");
  const members = isNegated ? characters.slice(1) : characters;
  const ranges: { readonly from: string; readonly to: string }[] = [];
  for (let index = 0; index < members.length; index++) {
    const from = members[index]?.text ?? "";
    const to = isSign(members[index + 1], "-") ? members[index + 2]?.text : undefined;
    ranges.push({ from, to: to ?? from });
    if (to !== undefined) index += 2;
  }
  return (character) => ranges.some(({ from, to }) => from <= character && character <= to) !== isNegated;
}

/** Whether steps and units match one to one, where "any" takes any number of units: of those only the last one needs to be tried again. */
function matchSteps<Step, Unit>(
  steps: readonly ("any" | Step)[],
  units: readonly Unit[],
  matches: (step: Step, unit: Unit) => boolean,
): boolean {
  let step = 0;
  let unit = 0;
  let retry: { readonly step: number; unit: number } | undefined;
  while (unit < units.length) {
    const current = steps[step];
    if (current === "any") {
      step += 1;
      retry = { step, unit };
    } else if (current !== undefined && matches(current as Step, units[unit] as Unit)) {
      step += 1;
      unit += 1;
    } else if (retry !== undefined) {
      retry.unit += 1;
      step = retry.step;
      unit = retry.unit;
    } else return false;
  }
  return steps.slice(step).every((rest) => rest === "any");
}
