import { expect, test, vi } from "vitest";
import { abortable } from "./context.js";

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

test("rejects with the reason at once, and lets nobody hear how the work ends", async () => {
  const unheard = vi.fn();
  process.on("unhandledRejection", unheard);
  const failing = async () => {
    await undefined;
    throw new Error("too late");
  };
  const controller = new AbortController();
  const late = abortable(failing(), controller);
  controller.abort("enough");
  await expect(late).rejects.toBe("enough");
  await expect(abortable(failing(), controller)).rejects.toBe("enough");
  await soon();
  process.off("unhandledRejection", unheard);
  expect(unheard).not.toHaveBeenCalled();
});

test("gives what the work gives where nobody aborts", async () => {
  await expect(abortable(Promise.resolve(3), {})).resolves.toBe(3);
  await expect(abortable(Promise.resolve(3), new AbortController())).resolves.toBe(3);
  await expect(abortable(Promise.reject(new Error("no")), new AbortController())).rejects.toThrow("no");
});
