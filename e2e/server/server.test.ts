import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { lfsPointer, type RunningServer, type ServerOptions, startServer } from "./server.mjs";

const running: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

async function start(options: ServerOptions): Promise<RunningServer> {
  const server = await startServer(options);
  running.push(() => server.close());
  return server;
}

const text = (value: string) => new TextEncoder().encode(value);
const digits = text("0123456789");
const root = new Map([
  ["a.bin", digits],
  ["b.bin", text("ABCDEFGHIJ")],
  ["dir/ä b#c%?.json", text("{}")],
  ["dir/sub/x", text("x")],
]);

test("answers single ranges with 206, clips them at the end, and refuses what lies past it", async () => {
  const { url, requests } = await start({ root });
  const get = (range: string) => fetch(`${url}/a.bin`, { headers: { range } });
  const part = await get("bytes=2-4");
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 2-4/10", "234"]);
  const clipped = await get("bytes=8-20");
  expect([clipped.status, clipped.headers.get("content-range"), await clipped.text()]).toEqual([206, "bytes 8-9/10", "89"]);
  const past = await get("bytes=10-11");
  expect([past.status, past.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  await past.body?.cancel();
  const suffix = await get("bytes=-2");
  expect([suffix.status, await suffix.text()]).toEqual([200, "0123456789"]);
  expect(requests.map(({ range, status, bytes }) => [range, status, bytes])).toEqual([
    ["bytes=2-4", 206, 3],
    ["bytes=8-20", 206, 2],
    ["bytes=10-11", 416, 0],
    ["bytes=-2", 200, 10],
  ]);
});

test("HEAD has the headers and no body; OPTIONS allows; the same bytes have the same ETag", async () => {
  const { url } = await start({ root });
  const head = await fetch(`${url}/a.bin`, { method: "HEAD" });
  expect([head.headers.get("content-length"), await head.text()]).toEqual(["10", ""]);
  const whole = await fetch(`${url}/a.bin`);
  expect(whole.headers.get("etag")).toBe(head.headers.get("etag"));
  expect(whole.headers.get("access-control-expose-headers")).toContain("content-range");
  await whole.body?.cancel();
  const preflight = await fetch(`${url}/a.bin`, { method: "OPTIONS", headers: { "access-control-request-headers": "x-key" } });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "x-key"]);
});

test("prints directories as python, nginx and Apache do, and sends /dir to /dir/", async () => {
  const python = await start({ root });
  const redirected = await fetch(`${python.url}/dir`);
  expect(redirected.url).toBe(`${python.url}/dir/`);
  expect(await redirected.text()).toContain(
    '<li><a href="sub/">sub/</a></li>\n<li><a href="%C3%A4%20b%23c%25%3F.json">ä b#c%?.json</a></li>',
  );
  const nginx = await start({ root, index: "nginx" });
  expect(await (await fetch(`${nginx.url}/`)).text()).toContain('<a href="../">../</a>\r\n<a href="a.bin">a.bin</a>');
  const apache = await start({ root, index: "apache" });
  expect(await (await fetch(`${apache.url}/dir/`)).text()).toContain('<a href="/">Parent Directory</a>');
  const none = await start({ root, index: "none" });
  expect((await fetch(`${none.url}/`)).status).toBe(404);
});

test("serves folders on disk, and nothing outside of them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "served-"));
  running.push(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "public"));
  await writeFile(join(folder, "secret"), "secret");
  await writeFile(join(folder, "public", "page.html"), "<p>");
  await symlink(join(folder, "secret"), join(folder, "public", "link"));
  const { url } = await start({ root: join(folder, "public"), headers: { "cache-control": "no-store" }, isolated: true });
  const page = await fetch(`${url}/page.html`);
  expect([page.headers.get("content-type"), page.headers.get("cache-control"), await page.text()]).toEqual([
    "text/html; charset=utf-8",
    "no-store",
    "<p>",
  ]);
  expect(page.headers.get("cross-origin-embedder-policy")).toBe("require-corp");
  // fetch would resolve the dots itself.
  for (const path of ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/link", "/page.html/", "/%00"]) {
    expect(await statusOf(url, path), path).toBe(404);
  }
});

test("serves files made on the fly, and further roots by prefix", async () => {
  const big = {
    size: 2 ** 40,
    etag: '"big"',
    async *read(begin: number, end: number) {
      for (let at = begin; at < end; at += 4) yield new Uint8Array(Math.min(4, end - at)).fill(at % 251);
    },
  };
  const { url } = await start({ root: (path) => (path === "/big" ? big : undefined), mounts: { "/m/": root } });
  const big10 = await fetch(`${url}/big`, { headers: { range: "bytes=1000-1009" } });
  expect([...new Uint8Array(await big10.arrayBuffer())]).toEqual(
    [1000, 1000, 1000, 1000, 1004, 1004, 1004, 1004, 1008, 1008].map((at) => at % 251),
  );
  expect(await (await fetch(`${url}/m/a.bin`)).text()).toBe("0123456789");
  expect((await fetch(`${url}/other`)).status).toBe(404);
});

test("misbehaves as told, as often as told", async () => {
  const server = await start({ root, faults: [{ kind: "ignore-range", path: "/a.bin" }] });
  const get = (range = "bytes=2-4") => fetch(`${server.url}/a.bin`, { headers: { range } });
  expect((await get()).status).toBe(200);
  server.clearFaults();
  server.addFault({ kind: "status", status: 429, retryAfter: 7, times: 1, after: 1 });
  expect((await get()).status).toBe(206);
  const refused = await get();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "7"]);
  expect((await get()).status).toBe(206);
  server.clearFaults();

  const broken: [Parameters<RunningServer["addFault"]>[0], string | RegExp][] = [
    [{ kind: "short", by: 1 }, "23"],
    [{ kind: "long", by: 1 }, "234\0"],
    [{ kind: "shift", by: 1 }, "34"],
    [{ kind: "replace", bytes: text("abcdefghij") }, "cde"],
    [{ kind: "body", body: lfsPointer(10), ranges: true }, "rsi"],
    [{ kind: "redirect", location: "/b.bin", path: "/a.bin" }, "CDE"],
  ];
  for (const [fault, expected] of broken) {
    const remove = server.addFault(fault);
    expect(await (await get()).text()).toBe(expected);
    remove();
  }
  server.addFault({ kind: "cut", afterBytes: 1 });
  await expect(get().then((answer) => answer.text())).rejects.toThrow();
  server.clearFaults();
  server.addFault({ kind: "cut", afterBytes: 0 });
  await expect(get()).rejects.toThrow();
  server.clearFaults();
  server.addFault({ kind: "hang" });
  await expect(fetch(server.url, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
});

test("compresses and hides as told", async () => {
  const server = await start({ root, faults: [{ kind: "gzip" }] });
  const part = await fetch(`${server.url}/a.bin`, { headers: { range: "bytes=0-4" } });
  expect([part.status, part.headers.get("content-encoding"), part.headers.get("content-range")]).toEqual([
    206,
    "gzip",
    expect.stringMatching(/^bytes 0-4\//),
  ]);
  await part.body?.cancel().catch(() => undefined);
  expect(await (await fetch(`${server.url}/a.bin`)).text()).toBe("0123456789");
  server.clearFaults();
  server.addFault({ kind: "hide-headers" });
  const bare = await fetch(`${server.url}/a.bin`, { headers: { range: "bytes=0-4" } });
  expect([bare.headers.get("etag"), bare.headers.get("content-range"), bare.headers.get("access-control-expose-headers")]).toEqual([
    null,
    null,
    null,
  ]);
  await bare.body?.cancel();
});

function statusOf(url: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
