import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences, type Expected, type ExpectedError, type ExpectedStep, withoutMarks } from "../../e2e/fixtures/expected.js";
import { CheckpointDtypeMismatchError, CheckpointValidationError, CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import { nodeStorage } from "../storage/node.js";
import { OrbaxCheckpointStore } from "./store.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");

const read = (fixture: string): Expected => JSON.parse(readFileSync(join(fixtures, fixture, "expected.json"), "utf8"));

const isStore = (names: readonly string[]) => names.includes("checkpoints") && names.includes("expected.json");
const names = readdirSync(fixtures).filter((name) => isStore(readdirSync(join(fixtures, name))));

const storeOf = (fixture: string) => new OrbaxCheckpointStore(nodeStorage(join(fixtures, fixture, "checkpoints")));

type ErrorClass = abstract new (...args: never[]) => Error;

/** Our error for one of substrax's. */
const errorClasses: Readonly<Record<string, ErrorClass>> = {
  UnsupportedCheckpointError,
  ValidationError: CheckpointValidationError,
  CheckpointDtypeMismatchError,
  JSONDecodeError: CorruptCheckpointError,
  FileNotFoundError: CorruptCheckpointError,
  KeyError: CorruptCheckpointError,
  ValueError: CorruptCheckpointError,
};
/** Steps of other writers, for which substrax raises whatever its libraries happen to. */
const foreign = ["plain-orbax 1", "records 56"];

/** Compressors that real substrax reads and we refuse, with an error that names them. */
const refused = ["bz2"];

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error) => error,
  );

function expectFailure(step: string, error: unknown, { type, issues, mismatches }: ExpectedError): void {
  expect(error).toBeInstanceOf(foreign.includes(step) ? UnsupportedCheckpointError : errorClasses[type]);
  if (error instanceof CheckpointValidationError) expect(error.issues.map(({ path }) => path)).toEqual(issues?.map(({ path }) => path));
  if (error instanceof CheckpointDtypeMismatchError) expect(error.mismatches).toEqual(mismatches);
}

describe.each(names)("fixture %s in memory", (fixture) => {
  const { steps } = read(fixture);
  const cases = Object.entries(steps).map(([step, expected]) => [`${step} ${expected.case ?? ""}`, Number(step), expected] as const);

  it.each(cases)("step %s", async (_, step, expected: ExpectedStep) => {
    const store = storeOf(fixture);
    if (expected.metadataError !== undefined)
      expectFailure(`${fixture} ${step}`, await failureOf(store.readMetadata(step)), expected.metadataError);
    if (expected.error !== undefined) {
      expectFailure(`${fixture} ${step}`, await failureOf(store.restore(step)), expected.error);
    } else if (refused.includes(expected.case ?? "")) {
      const error = await failureOf(store.restore(step));
      expect(error).toBeInstanceOf(UnsupportedCheckpointError);
      expect(String(error)).toContain(expected.case);
    } else {
      const { items, metadata } = await store.restore(step);
      expect(Object.keys(items)).toEqual(Object.keys(expected.items ?? {}));
      for (const [item, leaves] of Object.entries(expected.items ?? {})) {
        expect(await differences((items as Record<string, unknown>)[item], leaves)).toEqual([]);
      }
      const { step: recordedStep, metrics, extra, epoch, created_at } = withoutMarks(expected.metadata) as Record<string, unknown>;
      expect(metadata).toMatchObject({ step: Number(recordedStep), metrics, extra, epoch, createdAt: created_at });
    }
  });
});
