import { aFunction, integerFrom, oneOf, requireOptions, shown } from "../arguments.js";
import type { ByteRange } from "../bytes/ranges.js";
import { StorageError } from "../errors.js";
import { ByteBudget } from "../tasks/budget.js";
import { withCheckedOptions } from "./checkedOptions.js";
import { withCoalescing } from "./coalesce.js";
import { type AddressOptions, addressRules, parseAddress } from "./hosts/address.js";
import { askFacts, askLength } from "./http/askFacts.js";
import { Exchange } from "./http/exchange.js";
import { type HttpHeaders, someHeaders } from "./http/headers.js";
import { Parts } from "./http/parts.js";
import { type Clock, systemClock } from "./http/retry.js";
import { Scouts } from "./http/scouts.js";
import { inSegments, mostUnread } from "./http/segments.js";
import { HttpSession, type SessionSettings } from "./http/session.js";
import { targetOf } from "./http/target.js";
import { Wholes } from "./http/wholes.js";
import { type BodyKeeper, keepsStreams } from "./keptStream.js";
import { requirePath, requirePrefix, requireRange } from "./paths.js";
import type { ReadableStorage } from "./storage.js";
import { absentFileError, piecesOf } from "./streamRange.js";

/** How {@link httpStorage} asks. */
export interface HttpStorageOptions extends AddressOptions {
  /** Instead of the platform's `fetch`: for caches, proxies, signing, tests. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * Headers of each request, such as `{ authorization: "Bearer …" }`, or a (possibly async) function that makes them each time.
   * They stay with the URL's origin where a redirect leads elsewhere; browsers ask the server first whether they may be sent (CORS preflight).
   */
  readonly headers?: HttpHeaders | undefined;
  /** Whether cookies are sent, as `fetch` takes it. */
  readonly credentials?: RequestCredentials | undefined;
  /** How often a request is tried again after a broken connection or status 408, 429 or 5xx (default 4). */
  readonly retries?: number | undefined;
  /** Most requests at once (default 6, which is what browsers open to one HTTP/1.1 host). */
  readonly concurrency?: number | undefined;
  /** Statuses besides 404 and 410 that mean "no such file", such as `[403]` for S3 buckets that may not be listed. */
  readonly absentStatus?: readonly number[] | undefined;
  /**
   * Where a server gives no usable parts of a file, it is taken whole if it has at most so many bytes, and all such files
   * that are kept together have at most so many (default 64 MiB).
   */
  readonly wholeFileBytes?: number | undefined;
  /** How long a request may bring nothing before it counts as broken, in milliseconds (default 30,000). */
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * A folder on a web server, read only: `fetch` with single closed ranges, tried again where that may help. Nothing is requested before
 * the first read. A file keeps the version of its first answer, for as long as this storage or its snapshot is used.
 *
 * Besides http(s) URLs it takes `gs://bucket/path`, `s3://bucket/path` and `hf://owner/repo@revision/path`.
 * @throws CheckpointValueError on any other text than such an address, and on options out of range.
 */
export function httpStorage(url: string | URL, options: HttpStorageOptions = {}): ReadableStorage {
  return createHttpStorage(url, options, systemClock);
}

/** Of those that are refusals. */
const isStatusList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((status) => Number.isInteger(status) && status >= 400 && status <= 599);

/** Timers of more milliseconds run out at once. */
const longestTimer = 2 ** 31 - 1;

const httpRules = {
  ...addressRules,
  fetch: aFunction,
  headers: someHeaders,
  credentials: oneOf("omit", "same-origin", "include"),
  retries: integerFrom(0),
  concurrency: integerFrom(1),
  absentStatus: { expected: "a list of statuses from 400 to 599, such as [403]", accepts: isStatusList, shown },
  wholeFileBytes: integerFrom(0),
  idleTimeoutMs: integerFrom(1),
};

/** As {@link httpStorage}, at the pace of another clock. */
export function createHttpStorage(url: string | URL, options: HttpStorageOptions, clock: Clock): ReadableStorage {
  requireOptions("httpStorage", options, httpRules);
  const { base, api } = parseAddress(url, options);
  const exchange = new Exchange({
    base,
    // Looked up at each call, as a page may replace it, and called as a function of its own.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    headers: options.headers ?? {},
    credentials: options.credentials,
    concurrency: options.concurrency ?? 6,
    idleTimeoutMs: Math.min(options.idleTimeoutMs ?? 30_000, longestTimer),
  });
  const settings = {
    base,
    api,
    exchange,
    clock,
    scouts: new Scouts(),
    unread: new ByteBudget(mostUnread),
    absentStatus: options.absentStatus ?? [],
    retries: options.retries ?? 4,
    wholeFileBytes: options.wholeFileBytes ?? 64 * 1024 * 1024,
    mayAskElsewhere: options.fetch === undefined,
  };
  return withCheckedOptions(withCoalescing(openSession(settings)));
}

function openSession(settings: SessionSettings): ReadableStorage {
  const session = new HttpSession(settings);
  const wholes = new Wholes(session);
  const parts = new Parts(session, wholes);
  const locate = (path: string) => {
    requirePath(path);
    return targetOf(settings.base, path);
  };
  const stream: StreamPieces = async function* (path, range, { keeper, signal }) {
    const target = locate(path);
    requireRange(range);
    signal?.throwIfAborted();
    if (range.length === 0) return;
    const open = (segment: ByteRange, stop: AbortSignal) => parts.stream({ target, range: segment, priority: "low", keeper, signal: stop });
    for await (const piece of inSegments(range, open, () => absentFileError(path, range), settings.unread, { signal })) {
      for (const part of piecesOf(piece)) {
        yield part;
        signal?.throwIfAborted();
      }
    }
  };
  const storage: ReadableStorage = {
    name: settings.base.label.replace(/\/$/, ""),

    async read(path, { range, longest, signal } = {}) {
      const target = locate(path);
      if (range !== undefined) requireRange(range);
      signal?.throwIfAborted();
      if (range === undefined) return wholes.read(target, longest, signal);
      // HTTP knows no empty range; the server is not asked.
      return range.length === 0 ? new Uint8Array() : parts.read({ target, range, priority: "high", signal });
    },

    stream: (path, range, { signal } = {}) => stream(path, range, { signal }),

    async size(path, { signal } = {}) {
      const target = locate(path);
      signal?.throwIfAborted();
      return askLength(session, target, signal);
    },

    async list(prefix, { signal } = {}) {
      requirePrefix(prefix);
      signal?.throwIfAborted();
      const { listFolder } = await loadListing();
      return listFolder(session, prefix, signal);
    },

    async facts(path, { told = false, signal } = {}) {
      if (path === "" || path.endsWith("/")) requirePrefix(path);
      else requirePath(path);
      const target = targetOf(settings.base, path);
      signal?.throwIfAborted();
      return told ? session.versions.of(target) : askFacts(session, target, signal);
    },

    snapshot: () => openSession(settings),
  };
  return settings.mayAskElsewhere
    ? keepsStreams(storage, (path, range, { keeper, signal }) =>
        stream(path, range, { keeper: isPlatformFetch() ? keeper : undefined, signal }),
      )
    : storage;
}

type StreamPieces = (
  path: string,
  range: ByteRange,
  options: { readonly keeper?: BodyKeeper | undefined; readonly signal?: AbortSignal | undefined },
) => AsyncGenerator<Uint8Array>;

/** Whether nobody has put a fetch of his own in the platform's place, which is to hear of every request. */
const isPlatformFetch = (): boolean => {
  const { fetch } = globalThis;
  // By its name too: what a page made by `bind`, or a Proxy, is native code as well.
  return fetch.name === "fetch" && /^function fetch\(\)\s*\{\s*\[native code\]/.test(Function.prototype.toString.call(fetch));
};

/** Loaded on demand, since a step that is named needs no list; offline that may fail as a request does. */
async function loadListing(): Promise<typeof import("./hosts/listFolder.js")> {
  try {
    return await import("./hosts/listFolder.js");
  } catch (cause) {
    const message = "the part of orbax-webgpu that lists folders could not be loaded; connect, or serve all files of the page's own build";
    throw new StorageError({ path: "", reason: "network", message, cause });
  }
}
