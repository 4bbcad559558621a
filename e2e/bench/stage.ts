import { startPlainChromium } from "../setup/plainChromium.js";
import { type Moment, Seat } from "./seat.js";
import type { Isolation } from "./series.js";
import { type BenchServer, type BenchServerOptions, startBenchServer } from "./server/benchServer.js";

/** A page that does not answer for so long, in milliseconds, is given up. */
const longestSilence = 180_000;

/** The server and the browsers whose pages it commands. */
export class Stage {
  readonly #options: BenchServerOptions;
  readonly #profiles: string;
  readonly #waiting = new Map<string, (moment: Moment) => void>();
  #server: BenchServer | undefined;
  #seats = 0;

  /** @param profiles Folder of the browsers' profiles, in which their private files stay. */
  constructor(options: BenchServerOptions, profiles: string) {
    this.#options = options;
    this.#profiles = profiles;
  }

  async start(): Promise<void> {
    this.#server = await startBenchServer(this.#options, (seat, told, answer) => {
      const resolve = this.#waiting.get(seat);
      this.#waiting.delete(seat);
      resolve?.({ told, answer });
    });
  }

  get server(): BenchServer {
    if (this.#server === undefined) throw new Error("the server was not started");
    return this.#server;
  }

  /** Opens a page in a browser of its own. Only one seat of an isolation may be open, since two browsers cannot share a profile. */
  async open(isolation: Isolation): Promise<Seat> {
    this.#seats += 1;
    const name = `?${isolation}${this.#seats}`;
    const args = ["--enable-precise-memory-info", "--enable-blink-features=ForceEagerMeasureMemory"];
    const browser = startPlainChromium(`${this.server.url}/${isolation}/${name}`, { profile: `${this.#profiles}-${isolation}`, args });
    const ended = browser.ended.then(() => Promise.reject(new Error("the browser has ended")));
    ended.catch(() => {}); // whoever waits for the page is told
    const seat = new Seat(browser, () => Promise.race([this.#next(name), ended]));
    try {
      await seat.begin();
      if (seat.ready.isolated !== (isolation === "isolated")) throw new Error(`the page is not ${isolation}`);
      return seat;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** What a page says next. */
  #next(seat: string): Promise<Moment> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the page ${seat} has said nothing for ${longestSilence / 1000} s`)), longestSilence);
      this.#waiting.set(seat, (moment) => {
        clearTimeout(late);
        resolve(moment);
      });
    });
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
