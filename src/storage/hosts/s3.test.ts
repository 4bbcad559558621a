import { expect, test } from "vitest";
import { cpuTimeOf } from "../../tasks/cpuTime.testing.js";
import { parseListObjects } from "./s3.js";

const page = (inside: string) => `<?xml version="1.0"?>\n<ListBucketResult xmlns="x">${inside}</ListBucketResult>`;

test("reads keys, common prefixes and where the list goes on", () => {
  const xml = page(
    "<Name>b</Name><IsTruncated>true</IsTruncated><NextContinuationToken>a+/=&amp;</NextContinuationToken>" +
      "<Contents><Key>a&amp;b &#x41;</Key><Owner><ID>Key</ID></Owner></Contents><CommonPrefixes><Prefix>c/</Prefix></CommonPrefixes>",
  );
  expect(parseListObjects(xml)).toEqual({ keys: ["a&b A", "c/"], next: { "continuation-token": "a+/=&" } });
});

test("decodes keys where they are said to be encoded, and only then", () => {
  const contents = "<Contents><Key>a+b%2Bc%20d%C3%A4</Key></Contents><Contents><Key>100%</Key></Contents>";
  expect(parseListObjects(page(`<EncodingType>url</EncodingType>${contents}`))?.keys).toEqual(["a b+c dä", "100%"]);
  expect(parseListObjects(page(contents))?.keys).toEqual(["a+b%2Bc%20d%C3%A4", "100%"]);
});

test("other documents, and one that was cut off, are no lists", () => {
  const cut = page("<Contents><Key>a</Key></Contents>").slice(0, -5);
  for (const xml of [
    cut,
    "",
    "<html></html>",
    "<Error><Code>x</Code></Error>",
    "<ListAllMyBucketsResult></ListAllMyBucketsResult>",
    " ".repeat(2000),
  ])
    expect(parseListObjects(xml)).toBeUndefined();
});

test("a document made to be slow is read in time, and unfinished elements are left out", async () => {
  const parts = ["<Contents>", "<Contents><Key>", "<Key>", "</Contents>", "<CommonPrefixes><Prefix>a", "&", "&#"];
  const { cpuMs } = await cpuTimeOf(() => {
    for (const part of parts) expect(parseListObjects(page(part.repeat(100_000)))?.keys).toEqual([]);
  });
  expect(cpuMs).toBeLessThan(10_000);
});
