/** @typedef {import("./server.d.mts").Fault} Fault */

/** Which faults a request meets, counting how often each was met. */
export class Faults {
  /** @type {{ fault: Fault, met: number }[]} */
  #entries;

  /** @param {readonly Fault[]} faults */
  constructor(faults) {
    this.#entries = faults.map((fault) => ({ fault, met: 0 }));
  }

  /** @param {Fault} fault */
  add(fault) {
    const entry = { fault, met: 0 };
    this.#entries.push(entry);
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  clear() {
    this.#entries = [];
  }

  /**
   * The faults of this request, by kind; the first of a kind wins.
   * @param {{ method: string, path: string, range: string | undefined }} request
   * @returns {{ [Kind in Fault["kind"]]?: Extract<Fault, { kind: Kind }> }}
   */
  meet({ method, path, range }) {
    /** @type {Record<string, Fault>} */
    const met = {};
    for (const entry of this.#entries) {
      const { fault } = entry;
      const fits = fault.path === undefined || (typeof fault.path === "string" ? fault.path === path : fault.path.test(path));
      if (!fits || (fault.kind === "no-preflight") !== (method === "OPTIONS")) continue;
      if (fault.ranged !== undefined && fault.ranged !== (range !== undefined)) continue;
      entry.met += 1;
      const turn = entry.met - (fault.after ?? 0);
      if (turn >= 1 && turn <= (fault.times ?? Number.POSITIVE_INFINITY)) met[fault.kind] ??= fault;
    }
    return met;
  }
}

export const appPage = '<!doctype html>\n<html><head><title>App</title></head><body><div id="root"></div></body></html>\n';

/** @param {number} size */
export const lfsPointer = (size) => `version https://git-lfs.github.com/spec/v1\noid sha256:${"4d7a".repeat(16)}\nsize ${size}\n`;

/** @param {string} code */
export const s3Error = (code) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Refused</Message><RequestId>0</RequestId></Error>`;
