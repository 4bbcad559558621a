import { abortable, type TaskContext } from "../../tasks/context.js";

/** Tells what a scout saw: whether the server gave a part; call it once, without an answer where there was none. */
export type ScoutReport = (gavePart?: boolean) => void;

/**
 * Lets one read go ahead where it is unknown whether a server gives parts of files, so that not each of many sets the whole file
 * on its way. A server that gave one part is trusted; after the first whole file instead, each file has a scout of its own.
 */
export class Scouts {
  #givesParts: boolean | undefined;
  readonly #trusted = new Set<string>();
  readonly #ahead = new Map<string, Promise<void>>();

  /** The caller may go, and must report; or `undefined` after another came back: then look again at what is known. */
  async enter(path: string, { signal }: TaskContext): Promise<ScoutReport | undefined> {
    if (this.#givesParts === true || this.#trusted.has(path)) return (gavePart) => this.#learn(path, gavePart);
    const key = this.#givesParts === undefined ? "" : path;
    const ahead = this.#ahead.get(key);
    if (ahead !== undefined) {
      await abortable(ahead, { signal });
      return undefined;
    }
    let back = () => {};
    this.#ahead.set(
      key,
      new Promise((resolve) => {
        back = resolve;
      }),
    );
    return (gavePart) => {
      this.#learn(path, gavePart);
      this.#ahead.delete(key);
      back();
    };
  }

  /** The server says of a file that it gives parts: it is believed until it does not, which costs no more than a few broken-off answers. */
  hearPromise(): void {
    this.#givesParts ??= true;
  }

  #learn(path: string, gavePart: boolean | undefined): void {
    if (gavePart === true) this.#trusted.add(path);
    if (gavePart === true && this.#givesParts === undefined) this.#givesParts = true;
    if (gavePart === false) this.#givesParts = false;
  }
}
