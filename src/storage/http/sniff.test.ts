import { expect, test } from "vitest";
import { sniff } from "./sniff.js";

const encode = (text: string) => new TextEncoder().encode(text);
const dataFile = `d/${"0f".repeat(16)}`;

test("knows pages, pointers, XML and JSON errors", () => {
  const html = "text/html; charset=utf-8";
  expect(sniff(encode("<!DOCTYPE html>\n<html>"), html, "manifest.ocdbt")).toBe("html");
  expect(sniff(encode("\ufeff \n<HTML lang=en>"), "application/xhtml+xml", "_METADATA")).toBe("html");
  expect(sniff(encode("version https://git-lfs.github.com/spec/v1\noid sha256:00"), null, dataFile)).toBe("lfs");
  expect(sniff(encode('<?xml version="1.0"?><Error>'), "application/xml", "zarr.json")).toBe("xml");
  expect(sniff(encode("<Error><Code>SlowDown</Code></Error>"), "text/xml", "x")).toBe("xml");
  expect(sniff(encode('{"error":"x"}'), "application/json", "manifest.ocdbt")).toBe("json");
  expect(sniff(encode('{"error":"x"}'), "application/json", `run/${dataFile}`)).toBe("json");
});

test("knows a page without a media type, where it cannot be elements of an array", () => {
  const page = encode("<!doctype html>");
  for (const path of ["_METADATA", "manifest.ocdbt", "1200/model/manifest.ocdbt", "zarr.json", "w/.zarray", "d/short"])
    expect(sniff(page, null, path)).toBe("html");
  for (const path of [dataFile, `run/${dataFile}`, "w/0.0", "0", "w/c/0/1", "w/c"]) expect(sniff(page, null, path)).toBeUndefined();
  expect(sniff(encode("<p>"), null, "_METADATA")).toBeUndefined();
});

test("takes for a file what may be one", () => {
  expect(sniff(encode("<!doctype html>"), "application/octet-stream", dataFile)).toBeUndefined();
  expect(sniff(encode("<!doctype html>"), null, dataFile)).toBeUndefined();
  expect(sniff(Uint8Array.of(0, 1, 2), "text/html", dataFile)).toBeUndefined();
  expect(sniff(encode("<?xml"), "text/plain", dataFile)).toBeUndefined();
  expect(sniff(encode('{"error":"x"}'), "application/json", "metrics/metrics")).toBeUndefined();
  expect(sniff(encode('{"error":"x"}'), "application/json", "d/short")).toBeUndefined();
  expect(sniff(encode("version 2"), "text/plain", "x")).toBeUndefined();
  expect(sniff(new Uint8Array(), "text/html", "x")).toBeUndefined();
});
