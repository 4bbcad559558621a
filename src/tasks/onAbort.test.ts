import { describe, expect, it, vi } from "vitest";
import { onAbort } from "./onAbort.js";

describe("onAbort", () => {
  it("calls everyone who waits back, once, in the order they came", () => {
    const controller = new AbortController();
    const called: number[] = [];
    for (const index of [1, 2, 3]) onAbort(controller.signal, () => called.push(index));
    controller.abort();
    controller.abort();
    expect(called).toEqual([1, 2, 3]);
  });

  it("leaves those alone who went, one of two with the same callback too", () => {
    const { signal, controller } = listened();
    const callback = vi.fn();
    const leave = onAbort(signal, callback);
    onAbort(signal, callback);
    leave();
    leave();
    controller.abort();
    expect(callback).toHaveBeenCalledOnce();
  });

  it("does not call whom another sends away", () => {
    const { signal, controller } = listened();
    const callback = vi.fn();
    onAbort(signal, () => leave());
    const leave = onAbort(signal, callback);
    controller.abort();
    expect(callback).not.toHaveBeenCalled();
  });

  it("has one listener however many wait, and none when the last has gone", () => {
    const { signal, listeners } = listened();
    const leaves = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
    expect(listeners()).toBe(1);
    for (const leave of leaves) leave();
    expect(listeners()).toBe(0);
    onAbort(signal, () => {});
    expect(listeners()).toBe(1);
  });
});

function listened() {
  const controller = new AbortController();
  const { signal } = controller;
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  return { controller, signal, listeners: () => added.mock.calls.length - removed.mock.calls.length };
}
