// Keeps the demo's own pages and files, so that they open without a network. The checkpoints are the mirror's affair. The build puts the list
// of the files before this text, as `files`; a change of it is a new version of this worker.

const cacheName = "orbax-webgpu-demo";

/** What the pages fetch beside; a server may lack it. */
const data = ["digits/test-images.json", "training/images.json"];

self.addEventListener("install", (event) => {
  event.waitUntil(keepFiles().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method === "GET" && origin === location.origin && !pathname.includes("/checkpoints/")) event.respondWith(answer(event.request));
});

async function keepFiles() {
  const cache = await caches.open(cacheName);
  await cache.addAll(files.map((file) => new Request(file, { cache: "reload" })));
  await Promise.all(data.map((file) => cache.add(file).catch(() => undefined)));
}

/** Removes what an earlier build had, as its names tell. */
async function forgetOthers() {
  const cache = await caches.open(cacheName);
  const names = new Set(files.map((file) => new URL(file, location.href).href));
  for (const request of await cache.keys()) if (request.url.includes("/assets/") && !names.has(request.url)) await cache.delete(request);
}

/** From the network, so that nothing is ever old; without one, what was fetched last. */
async function answer(request) {
  const cache = await caches.open(cacheName);
  try {
    const response = await fetch(request);
    if (response.status === 200) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}
