import { expect, test } from "vitest";
import { factsDifference, joinFacts } from "./fileFacts.js";

test("another size, ETag or time is another version, what is hidden is not", () => {
  const facts = { etag: '"a"', modified: "Monday", size: 3 };
  expect(factsDifference(facts, {})).toBeUndefined();
  expect(factsDifference(facts, { ...facts, modified: "Tuesday" })).toBeUndefined();
  expect(factsDifference(facts, { size: 4 })).toBe("3 bytes, then 4");
  expect(factsDifference(facts, { etag: '"b"' })).toBe('ETag "a", then "b"');
  expect(factsDifference(facts, { modified: "Tuesday" })).toBe("last modified Monday, then Tuesday");
});

test("facts of one version add up", () => {
  expect(joinFacts({ etag: '"a"' }, { etag: '"b"', size: 3 })).toEqual({ etag: '"a"', modified: undefined, size: 3 });
});
