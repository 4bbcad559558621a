import { expect, it, vi } from "vitest";
import { httpStorage } from "../http.js";

vi.mock("./listFolder.js", () => {
  throw new TypeError("Failed to fetch dynamically imported module");
});

it("a page that lost its own files says so as a place without an answer does, and reads all the same", async () => {
  const storage = httpStorage("https://example.org/run", { fetch: async () => new Response("file") });
  await expect(storage.list("")).rejects.toMatchObject({
    name: "StorageError",
    reason: "network",
    message: expect.stringMatching(/could not be loaded/),
  });
  expect(new TextDecoder().decode(await storage.read("a"))).toBe("file");
});
