/** A worker in memory, for tests of what uses workers: the test speaks for its script. */
export class FakeWorker extends EventTarget {
  /** What was posted to it. */
  readonly posted: unknown[] = [];
  terminated = false;

  /** This worker as the package takes it. */
  get worker(): Worker {
    return this as unknown as Worker;
  }

  postMessage(message: unknown): void {
    this.posted.push(message);
  }

  terminate(): void {
    this.terminated = true;
  }

  /** Its script posts a message. */
  say(data: unknown): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }

  /** Its script could not be loaded, or threw; whether somebody took care of that. */
  fail(message?: string): boolean {
    return !this.dispatchEvent(Object.assign(new Event("error", { cancelable: true }), { message }));
  }

  /** It posted what cannot be read here. */
  garble(): void {
    this.dispatchEvent(new MessageEvent("messageerror"));
  }
}
