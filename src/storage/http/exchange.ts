import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { ByteBudget } from "../../tasks/budget.js";
import { abortable } from "../../tasks/context.js";
import type { BodyKeeper } from "../keptStream.js";
import { Answer } from "./answer.js";
import { Connection } from "./connection.js";
import { requireResponse } from "./customFetch.js";
import { HiddenRedirectError } from "./failures.js";
import { type HttpHeaders, headersFrom, withHeaders } from "./headers.js";
import { secretsOf } from "./secrets.js";
import { sniffLength } from "./sniff.js";
import type { HttpBase } from "./target.js";

/** What is asked. */
export interface HttpQuestion {
  /** GET unless it is given. */
  readonly method?: "HEAD" | undefined;
  readonly range?: ByteRange | undefined;
  readonly accept: string;
  /** What the platform asks for first where its connections are all busy. */
  readonly priority: RequestPriority;
  /** Makes the request, and keeps the body where it can. */
  readonly keeper?: BodyKeeper | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What an exchange needs to know. */
export interface ExchangeSettings {
  readonly base: HttpBase;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly headers: HttpHeaders;
  readonly credentials: RequestCredentials | undefined;
  readonly concurrency: number;
  readonly idleTimeoutMs: number;
}

const mostRedirects = 10;

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** Sends single requests, a limited number at once; one counts until its body is read or given up. */
export class Exchange {
  readonly #settings: ExchangeSettings;
  // A budget of requests: each takes one.
  readonly #requests: ByteBudget;
  // Browsers do not show where a redirect leads; there fetch follows it, and drops the Authorization header itself.
  #redirectsAreHidden = false;

  constructor(settings: ExchangeSettings) {
    this.#settings = settings;
    this.#requests = new ByteBudget(settings.concurrency);
  }

  /**
   * One request; whatever the status, it is an answer.
   * @throws TransportError where there was none, HiddenRedirectError, CheckpointValueError where it is no response or a header is none, the
   *   signal's reason on abort, and what the user's `headers` function throws.
   */
  async ask(url: URL, question: HttpQuestion): Promise<Answer> {
    const { method, range, accept, priority, signal } = question;
    const secrets = secretsOf(this.#settings.base.url);
    const connection = new Connection(this.#settings.idleTimeoutMs, await this.#requests.acquire(1, { signal }), secrets);
    try {
      connection.follow(signal);
      const credentials = await abortable(this.#credentials(), { signal });
      secrets.push(...Object.values(credentials));
      const plain = new Headers({ accept });
      // A single closed range is what CORS lets pass without asking first, and what every server knows.
      if (range !== undefined) plain.set("range", `bytes=${range.offset}-${endOf(range) - 1}`);
      const asking = { ...(method && { method }), headers: plain, priority };
      const answer = await this.#follow(url, asking, credentials, this.#fetchFor(question), connection, secrets);
      const isTimed = question.keeper?.keepsBodyOf(answer.response) !== true;
      return new Answer(answer.response, url, answer.url, connection, isTimed);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #credentials(): Promise<Readonly<Record<string, string>>> {
    const { base, headers } = this.#settings;
    const given = await headersFrom(headers);
    return base.authorization === undefined ? given : { authorization: base.authorization, ...given };
  }

  /** Follows redirects by hand where there are headers that other origins must not see. */
  async #follow(
    asked: URL,
    { headers: plain, ...asking }: RequestInit & { readonly headers: Headers },
    credentials: Readonly<Record<string, string>>,
    fetch: ExchangeSettings["fetch"],
    connection: Connection,
    secrets: string[],
  ) {
    const names = Object.keys(credentials).map((name) => name.toLowerCase());
    const others = names.filter((name) => name !== "authorization");
    let url = asked;
    for (let hop = 0; ; hop += 1) {
      const manual = names.length > 0 && (!this.#redirectsAreHidden || others.length > 0);
      const redirect = manual ? "manual" : "follow";
      const headers = url.origin === this.#settings.base.url.origin ? withHeaders(plain, credentials) : plain;
      const response = requireResponse(
        await connection.wait(this.#fetch(fetch, url, { ...asking, headers, redirect, signal: connection.signal })),
      );
      if (response.type === "opaqueredirect") {
        if (others.length > 0) throw new HiddenRedirectError(others);
        this.#redirectsAreHidden = true;
        continue;
      }
      const location = manual && redirectStatuses.has(response.status) ? response.headers.get("location") : null;
      if (location === null || hop === mostRedirects || !URL.canParse(location, url)) return { response, url };
      await response.body?.cancel().catch(() => undefined);
      url = new URL(location, url);
      secrets.push(...secretsOf(url));
    }
  }

  #fetchFor({ range, keeper }: HttpQuestion): ExchangeSettings["fetch"] {
    const { fetch, idleTimeoutMs } = this.#settings;
    if (keeper === undefined || range === undefined) return fetch;
    const question = { ...range, headLength: range.offset === 0 ? sniffLength : 0, idleTimeoutMs };
    return (url, init) => keeper.fetch(url, init, question);
  }

  // Async, so that a fetch that throws at once is a rejection too.
  async #fetch(fetch: ExchangeSettings["fetch"], url: URL, asked: RequestInit): Promise<Response> {
    const { credentials } = this.#settings;
    // Through its cache a browser answers requests for one URL one after another, even with no-cache.
    const init: RequestInit = { ...asked, cache: "no-store" };
    return fetch(url.href, credentials === undefined ? init : { ...init, credentials });
  }
}
