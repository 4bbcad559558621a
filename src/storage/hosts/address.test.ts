import { describe, expect, it } from "vitest";
import { CheckpointValueError } from "../../errors.js";
import { targetOf } from "../http/target.js";
import { httpStorage } from "../http.js";
import { type AddressOptions, isWebAddress, parseAddress } from "./address.js";

/** The URL of a file, what errors call the place, and the address that lists it. */
function readings(given: string | URL, options: AddressOptions = {}) {
  const { base, api } = parseAddress(given, options);
  const list = api && { s3: "bucket" in api && api.bucket, gcs: "objects" in api && api.objects, hf: "tree" in api && api.tree }[api.kind];
  return { file: targetOf(base, "a b/c").url.href, label: base.label, list: list ? list.href : undefined, prefix: api?.prefix };
}

describe("gs:", () => {
  it("is the JSON API, whose objects are one part of a URL", () => {
    expect(readings("gs://bucket/run/1")).toEqual({
      file: "https://storage.googleapis.com/storage/v1/b/bucket/o/run%2F1%2Fa%20b%2Fc?alt=media",
      label: "https://storage.googleapis.com/bucket/run/1/",
      list: "https://storage.googleapis.com/storage/v1/b/bucket/o",
      prefix: "run/1/",
    });
    expect(readings("gs://bucket")).toMatchObject({
      file: "https://storage.googleapis.com/storage/v1/b/bucket/o/a%20b%2Fc?alt=media",
      label: "https://storage.googleapis.com/bucket/",
      prefix: "",
    });
    expect(readings("gs://bucket/", { endpoint: "http://localhost:4443" }).file).toBe(
      "http://localhost:4443/storage/v1/b/bucket/o/a%20b%2Fc?alt=media",
    );
  });
});

describe("s3:", () => {
  it("is the bucket's own host, in its region", () => {
    expect(readings("s3://bucket/run/1/")).toEqual({
      file: "https://bucket.s3.amazonaws.com/run/1/a%20b/c",
      label: "https://bucket.s3.amazonaws.com/run/1/",
      list: "https://bucket.s3.amazonaws.com/",
      prefix: "run/1/",
    });
    expect(readings("S3://bucket", { region: "eu-west-1" }).file).toBe("https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c");
  });

  it("is a part of the path where the name is in no certificate, or the host is another", () => {
    expect(readings("s3://my.bucket/run", { region: "eu-west-1" })).toMatchObject({
      file: "https://s3.eu-west-1.amazonaws.com/my.bucket/run/a%20b/c",
      list: "https://s3.eu-west-1.amazonaws.com/my.bucket",
    });
    expect(readings("s3://Old_Bucket/run").file).toBe("https://s3.amazonaws.com/Old_Bucket/run/a%20b/c");
    expect(readings("s3://bucket/run", { endpoint: new URL("https://account.example.org/s3?key=1") })).toMatchObject({
      file: "https://account.example.org/s3/bucket/run/a%20b/c?key=1",
      list: "https://account.example.org/s3/bucket?key=1",
      label: "https://account.example.org/s3/bucket/run/",
    });
  });
});

describe("hf:", () => {
  it.each([
    ["hf://owner/repo", "owner/repo/resolve/main/", "models/owner/repo/tree/main", ""],
    ["hf://owner/repo/run/1", "owner/repo/resolve/main/run/1/", "models/owner/repo/tree/main", "run/1/"],
    ["hf://owner/repo@v1.0/run", "owner/repo/resolve/v1.0/run/", "models/owner/repo/tree/v1.0", "run/"],
    ["hf://datasets/owner/repo@0a1b", "datasets/owner/repo/resolve/0a1b/", "datasets/owner/repo/tree/0a1b", ""],
    ["hf://spaces/owner/repo/x", "spaces/owner/repo/resolve/main/x/", "spaces/owner/repo/tree/main", "x/"],
    ["hf://owner/repo@refs/pr/1/run", "owner/repo/resolve/refs%2Fpr%2F1/run/", "models/owner/repo/tree/refs%2Fpr%2F1", "run/"],
    ["hf://owner/repo@refs%2Fpr%2F1", "owner/repo/resolve/refs%2Fpr%2F1/", "models/owner/repo/tree/refs%2Fpr%2F1", ""],
    ["hf://gpt2@main/run", "gpt2/resolve/main/run/", "models/gpt2/tree/main", "run/"],
    ["hf://owner/repo/a@b", "owner/repo/resolve/main/a%40b/", "models/owner/repo/tree/main", "a@b/"],
  ])("%s", (given, folder, tree, prefix) => {
    expect(readings(given)).toEqual({
      file: `https://huggingface.co/${folder}a%20b/c`,
      label: `https://huggingface.co/${folder}`,
      list: `https://huggingface.co/api/${tree}`,
      prefix,
    });
  });
});

describe("https:", () => {
  it.each([
    ["https://bucket.s3.amazonaws.com/run", "https://bucket.s3.amazonaws.com/", "run/"],
    ["https://my.bucket.s3.eu-west-1.amazonaws.com/", "https://my.bucket.s3.eu-west-1.amazonaws.com/", ""],
    ["https://bucket.s3.dualstack.us-east-2.amazonaws.com/a%20b?x=1", "https://bucket.s3.dualstack.us-east-2.amazonaws.com/?x=1", "a b/"],
    ["https://s3-us-west-2.amazonaws.com/bucket/run", "https://s3-us-west-2.amazonaws.com/bucket", "run/"],
    ["https://s3.cn-north-1.amazonaws.com.cn/bucket", "https://s3.cn-north-1.amazonaws.com.cn/bucket", ""],
    ["https://bucket.storage.googleapis.com/run", "https://bucket.storage.googleapis.com/", "run/"],
    ["https://storage.googleapis.com/bucket/run", "https://storage.googleapis.com/storage/v1/b/bucket/o", "run/"],
  ])("knows that %s lists", (given, list, prefix) => {
    const { file, ...rest } = readings(given);
    const url = new URL(given);
    expect(rest).toMatchObject({ list, prefix });
    expect(file).toBe(`${url.origin}${url.pathname.replace(/\/?$/, "/")}a%20b/c${url.search}`);
  });

  it.each([
    ["owner/repo", "owner/repo/resolve/main/", "models/owner/repo/tree/main"],
    ["owner/repo/tree/main/run", "owner/repo/resolve/main/run/", "models/owner/repo/tree/main"],
    [
      "datasets/owner/repo/resolve/refs%2Fpr%2F1/run/",
      "datasets/owner/repo/resolve/refs%2Fpr%2F1/run/",
      "datasets/owner/repo/tree/refs%2Fpr%2F1",
    ],
    ["gpt2/raw/main/run", "gpt2/resolve/main/run/", "models/gpt2/tree/main"],
  ])("takes Hugging Face's page %s for the files that it shows", (given, folder, tree) => {
    expect(readings(`https://huggingface.co/${given}`)).toMatchObject({
      file: `https://huggingface.co/${folder}a%20b/c`,
      label: `https://huggingface.co/${folder}`,
      list: `https://huggingface.co/api/${tree}`,
    });
  });

  it.each([
    "https://example.org/run",
    "https://s3.example.org/bucket/run",
    "https://amazonaws.com.example.org/bucket/",
    "https://storage.googleapis.com/",
    "https://storage.googleapis.com/bucket/%zz",
    "https://bucket.s3.amazonaws.com/%zz",
    "https://huggingface.co/",
    "https://huggingface.co/api/models/x",
  ])("knows nothing of %s", (given) => {
    expect(parseAddress(given).api).toBeUndefined();
  });
});

it("an endpoint's user and password become a header, and stand in no label", () => {
  for (const given of ["s3://bucket/run", "gs://bucket/run", "hf://owner/repo/run"]) {
    const { base, api } = parseAddress(given, { endpoint: "https://me:topsecret@example.org" });
    expect(base.authorization).toBe(`Basic ${btoa("me:topsecret")}`);
    expect(JSON.stringify({ base: { ...base, authorization: "" }, api })).not.toContain("topsecret");
  }
});

it("takes text as it is, and decodes that of a URL", () => {
  expect(readings("s3://bucket/a b%20c#e").prefix).toBe("a b%20c#e/");
  expect(readings(new URL("s3://bucket/a%3Fb")).prefix).toBe("a?b/");
  expect(readings(new URL("s3://bucket/a b%20c")).prefix).toBe("a b c/");
  expect(readings(new URL("s3://bucket/a%zz")).prefix).toBe("a%zz/");
});

it.each([
  "gs://",
  "gs://b",
  "gs://bucket/../other",
  "gs://secret@bucket/run",
  "s3://key:secret@bucket/run",
  "s3:///secret",
  "s3://bucket/a//secret/b",
  "hf://secret",
  "hf://datasets/secret",
  "hf://owner/repo@/secret",
  "hf://user:secret@owner/repo",
])("refuses %s, and names no secret", (given) => {
  expect(() => parseAddress(given)).toThrow(CheckpointValueError);
  if (!given.includes("//secret/b")) expect(() => parseAddress(given)).not.toThrow(/secret/);
});

it("endpoint and region are not for URLs that say where they lead, and a region is a name", () => {
  for (const options of [{ endpoint: "https://example.org" }, { region: "eu-west-1" }]) {
    expect(() => parseAddress("https://example.org/run", options)).toThrow(/endpoint and region are for gs:, s3: and hf:/);
  }
  expect(() => httpStorage("s3://bucket", { region: "evil.example.org/" })).toThrow(/region is a name/);
  expect(() => parseAddress("s3://bucket", { endpoint: "example.org" })).toThrow(/absolute http: or https: URL/);
});

it("tells addresses from paths of folders", () => {
  for (const address of ["http://x", "HTTPS://x/y", "gs://b", "S3://b", "hf://o/r"]) expect(isWebAddress(address), address).toBe(true);
  for (const path of ["https://", "http:/x", "gs:", "gs:/b", "file:///x", "C:/x", "runs/gs://b", ""])
    expect(isWebAddress(path), path).toBe(false);
});
