import { bodyReader } from "./bodyReader.js";
import type { Connection } from "./connection.js";
import { requirePiece } from "./customFetch.js";

/** A response whose body is still on its way; read it or close it. */
export class Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Where the answer came from, after redirects. */
  readonly url: URL;
  readonly redirected: boolean;
  readonly #response: Response;
  readonly #connection: Connection;
  readonly #isTimed: boolean;

  /** `reached` is where redirects that were followed by hand led; `isTimed`: its body may not bring nothing for too long. */
  constructor(response: Response, asked: URL, reached: URL, connection: Connection, isTimed = true) {
    this.status = response.status;
    this.headers = response.headers;
    // A response that a custom fetch made itself has no URL.
    this.url = response.url === "" ? reached : new URL(response.url);
    this.redirected = this.url.pathname !== asked.pathname || this.url.origin !== asked.origin;
    this.#response = response;
    this.#connection = connection;
    this.#isTimed = isTimed;
  }

  /** Media type as sent. */
  get contentType(): string | null {
    return this.headers.get("content-type");
  }

  /** True when the body was compressed on its way, as far as the headers can be seen. */
  get encoded(): boolean {
    return !["", "identity"].includes(this.headers.get("content-encoding")?.trim().toLowerCase() ?? "");
  }

  /** Length of the body that is to come, where the headers tell. */
  get length(): number | undefined {
    const header = this.headers.get("content-length");
    return this.encoded || header === null || !/^\d+$/.test(header) ? undefined : Number(header);
  }

  /** True when headers may be hidden from the page, Content-Encoding among them. */
  get mayHideHeaders(): boolean {
    return this.#response.type === "cors";
  }

  /** Stops with another signal than the one that the request was made with. */
  follow(signal: AbortSignal | undefined): void {
    this.#connection.follow(signal);
  }

  /** The body as it arrives, in pieces that are the caller's until the next one is asked for; throws as {@link Connection.wait}. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    const { body } = this.#response;
    const reader = body === null ? undefined : bodyReader(body, this.length);
    let complete = reader === undefined;
    try {
      while (reader !== undefined) {
        const { done, value } = await this.#connection.wait(reader.read(), this.#isTimed);
        complete = done;
        if (done) return;
        if (value !== undefined && requirePiece(value).byteLength > 0) yield value;
      }
    } finally {
      if (!complete) reader?.cancel().catch(() => undefined);
      this.#connection.close(complete);
    }
  }

  /** At most `length` bytes of the body as text; the rest is not waited for. An error's body that breaks off is an empty text. */
  async text(length: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let read = 0;
    try {
      for await (const piece of this.pieces()) {
        text += decoder.decode(piece.subarray(0, length - read), { stream: true });
        read += piece.byteLength;
        if (read >= length) break;
      }
    } catch (error) {
      if (!(error instanceof Error && error.name === "TransportError")) throw error;
    }
    return text;
  }

  /** Gives the body up. */
  close(): void {
    this.#connection.close();
  }
}
