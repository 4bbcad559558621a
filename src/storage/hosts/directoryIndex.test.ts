import { expect, test } from "vitest";
import { cpuTimeOf } from "../../tasks/cpuTime.testing.js";
import { parseDirectoryIndex } from "./directoryIndex.js";

const url = new URL("http://127.0.0.1:8000/run/a%20b/");
const html = "text/html; charset=utf-8";

test("reads what python -m http.server prints", () => {
  const page = `<!DOCTYPE HTML>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Directory listing for /run/a b/</title>
</head>
<body>
<h1>Directory listing for /run/a b/</h1>
<hr>
<ul>
<li><a href=".hidden">.hidden</a></li>
<li><a href="a%3Ab">a:b</a></li>
<li><a href="it%27s%20%26%20%3Cb%3E">it's &amp; &lt;b&gt;</a></li>
<li><a href="sub/">sub/</a></li>
<li><a href="x%22y">x"y</a></li>
<li><a href="%C3%A4%20b%23c%25%3F.json">ä b#c%?.json</a></li>
</ul>
<hr>
</body>
</html>
`;
  expect(parseDirectoryIndex(page, html, url)).toEqual({
    files: [".hidden", "a:b", "it's & <b>", 'x"y', "ä b#c%?.json"],
    directories: ["sub"],
  });
});

test("reads what nginx prints, in HTML and in JSON", () => {
  const page = [
    "<html>",
    "<head><title>Index of /run/a b/</title></head>",
    "<body>",
    '<h1>Index of /run/a b/</h1><hr><pre><a href="../">../</a>',
    '<a href="100/">100/</a>                                               29-Nov-2026 23:11                   -',
    `<a href="${"long".repeat(20)}">longlonglonglonglonglonglonglonglonglonglonglon..&gt;</a> 29-Nov-2026 23:11       0`,
    "</pre><hr></body>",
    "</html>",
  ].join("\r\n");
  expect(parseDirectoryIndex(page, html, url)).toEqual({ files: ["long".repeat(20)], directories: ["100"] });
  const json = '[\n{ "name":"100", "type":"directory", "mtime":"x" },\n{ "name":"x\\"y", "type":"file", "size":0 }\n]';
  expect(parseDirectoryIndex(json, "application/json", url)).toEqual({ files: ['x"y'], directories: ["100"] });
});

test("reads what Apache prints, without its links to other orders and to the folder above", () => {
  const page = `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
<html><head><title>Index of /run/a b</title></head><body><h1>Index of /run/a b</h1>
<table><tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
<tr><td valign="top"><img src="/icons/back.gif" alt="[PARENTDIR]"></td><td><a href="/run/">Parent Directory</a></td></tr>
<tr><td><A class=x HREF='a&amp;b&#39;&#x2B;'>a</A></td></tr>
<tr><td><a href=100/>100/</a></td></tr></table></body></html>`;
  expect(parseDirectoryIndex(page, html, url)).toEqual({ files: ["a&b'+"], directories: ["100"] });
});

test("reads Caddy's JSON and pages with absolute links", () => {
  expect(parseDirectoryIndex('[{"name":"100/","is_dir":true},{"name":"x","is_dir":false}]', "application/json", url)).toEqual({
    files: ["x"],
    directories: ["100"],
  });
  const page = '<title>Index of /run/a b/</title><a href="/run/a%20b/100/">100/</a><a href="http://127.0.0.1:8000/run/a%20b/x">x</a>';
  expect(parseDirectoryIndex(page, html, url)).toEqual({ files: ["x"], directories: ["100"] });
});

test("leaves out what is no direct entry", () => {
  const hrefs = [
    "",
    ".",
    "./",
    "..",
    "../x",
    "/",
    "/run/x",
    "a/b",
    "x?y",
    "x#y",
    "#",
    "//other/run/a%20b/x",
    "mailto:a@b",
    "%",
    "%zz",
    "%2e%2e/",
    "&#1114112;x",
  ];
  const page = `<h1>Index of /run/a b/</h1>${hrefs.map((href) => `<a href="${href}">x</a>`).join("")}`;
  expect(parseDirectoryIndex(page, html, url)).toEqual({ files: [], directories: [] });
});

test("other documents are no index", () => {
  for (const page of ["", "<!doctype html><title>App</title><a href='x'>x</a>", '{"name":"x"}', "<title>The index of happiness</title>"]) {
    expect(parseDirectoryIndex(page, html, url)).toBeUndefined();
  }
  expect(parseDirectoryIndex('{"error":1}', "application/json", url)).toBeUndefined();
  expect(parseDirectoryIndex("[1", "application/json", url)).toBeUndefined();
  for (const json of ['["1","2"]', "[1]", "[null]", '[{"name":"x"},{"name":2}]', '{"files":["x"]}', '{"files":1}', "null"])
    expect(parseDirectoryIndex(json, "application/json", url), json).toBeUndefined();
  expect(parseDirectoryIndex('[{"name":"a/b"},{"name":".."}]', "application/json", url)).toEqual({ files: [], directories: [] });
});

test("a page whose links do not tell folders from files is no index", () => {
  const page = `<title>listing directory /run/a b/</title><a href="/run/a%20b/100" class="icon icon-directory">100</a>`;
  expect(parseDirectoryIndex(page, html, url)).toBeUndefined();
});

test("reads what npm's serve prints", () => {
  const entries = [
    { type: "directory", base: "..", relative: "/run/", title: "/run/", ext: "" },
    { type: "folder", base: "100/", name: "100", ext: "", relative: "/run/a%20b/100/", title: "100/" },
    { type: "file", base: "x.json", name: "x", ext: "json", relative: "/run/a%20b/x.json", title: "x.json" },
  ];
  expect(parseDirectoryIndex(JSON.stringify({ files: entries, directory: "a b/" }), "application/json; charset=utf-8", url)).toEqual({
    files: ["x.json"],
    directories: ["100"],
  });
});

test("a page made to be slow is read in time", async () => {
  const pages = ["<title", "<title>", "<a ", "<a href ", '<a href="', "<a href='", "<a href=", "&#"].map((part) => part.repeat(100_000));
  const { cpuMs } = await cpuTimeOf(() => {
    for (const page of pages) {
      parseDirectoryIndex(page, html, url);
      parseDirectoryIndex(`<title>Index of /</title>${page}`, html, url);
    }
  });
  expect(cpuMs).toBeLessThan(10_000);
});
