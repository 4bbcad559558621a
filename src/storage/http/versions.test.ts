import { expect, test } from "vitest";
import { parseBase, targetOf } from "./target.js";
import { Versions } from "./versions.js";

const target = targetOf(parseBase("https://example.org"), "d/0a");

function check(...answers: Record<string, string>[]): { error: unknown; closed: number } {
  const versions = new Versions();
  let closed = 0;
  try {
    for (const headers of answers) versions.check(target, { headers: new Headers(headers), close: () => closed++ });
    return { error: undefined, closed };
  } catch (error) {
    return { error, closed };
  }
}

const day = (date: number) => `Thu, 0${date} Jan 2026 00:00:00 GMT`;

test("the same, or hidden, headers are the same version", () => {
  expect(check({ etag: '"a"' }, {}, { etag: '"a"' }).error).toBeUndefined();
  expect(check({}, { "last-modified": day(1) }, { etag: '"a"', "last-modified": day(1) }).error).toBeUndefined();
  expect(
    check({ "content-range": "bytes 0-1/10" }, { "content-range": "bytes 2-3/*" }, { "content-range": "bytes 2-3/10" }).error,
  ).toBeUndefined();
  expect(check({ etag: '"a"', "last-modified": day(1) }, { etag: '"a"', "last-modified": day(2) }).error).toBeUndefined();
});

test("another strong ETag, date or size is another version, also where it was hidden in between, and closes the answer", () => {
  for (const answers of [
    [{ etag: '"a"' }, {}, { etag: '"b"' }],
    [{ "last-modified": day(1) }, { "last-modified": day(2) }],
    [
      { etag: 'W/"a"', "last-modified": day(1) },
      { etag: 'W/"b"', "last-modified": day(2) },
    ],
    [{ "content-range": "bytes 0-1/10" }, { "content-range": "bytes 0-1/11" }],
    [
      { etag: '"a"', "content-range": "bytes 0-1/10" },
      { etag: '"a"', "content-range": "bytes 0-1/11" },
    ],
  ] as Record<string, string>[][]) {
    expect(check(...answers)).toMatchObject({ error: { name: "StorageError", reason: "changed", path: "d/0a" }, closed: 1 });
  }
});
