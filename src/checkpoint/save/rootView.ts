import { listingOf } from "../../storage/listing.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { absentFileError } from "../../storage/streamRange.js";
import type { TaskContext } from "../../tasks/context.js";
import { type Commit, filesBelow, readIdentity, readState, type StoreState, stepsOf } from "./commits.js";

/** A store's root in which every step stands in the folder of its number, wherever its files are as long as a commit is not tidied. */
export interface RootView {
  readonly storage: ReadableStorage;
  /**
   * Looks where everything is now; the caller shares the readers' lock until it has read. Throws StorageError where the place fails.
   * @param step of which it gives the identity as well.
   */
  look(step: number | undefined, context: TaskContext): Promise<Look>;
}

/** What a look at a root has shown. */
export interface Look {
  readonly state: StoreState;
  /** What tells one save of the step from another; undefined where there is no such step. */
  readonly identity: string | undefined;
  /** Tells where the step's files are: another text as soon as one of them was moved. */
  readonly place: string;
}

/** A pending commit, and which of its files were moved already. */
interface Located {
  readonly commit: Commit;
  readonly waiting: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

/** Sees a root through its commits. */
export function rootView(root: ReadableStorage): RootView {
  let state: StoreState | undefined;
  let located: ReadonlyMap<string, Located> = new Map();
  const locate = (path: string): string | undefined => {
    const slash = path.indexOf("/");
    const found = slash < 0 ? undefined : located.get(path.slice(0, slash));
    if (found === undefined) return path;
    const file = path.slice(slash + 1);
    if (!found.files.has(file)) return undefined;
    return found.waiting.has(file) ? `${found.commit.folder}/${file}` : path;
  };
  const list = (prefix: string, listing: ReadableStorage, options?: TaskContext) => {
    const step = prefix.slice(0, prefix.indexOf("/"));
    const found = located.get(step);
    return found === undefined
      ? listing.list(prefix, options)
      : Promise.resolve(
          listingOf(
            [...found.files].map((file) => `${step}/${file}`),
            prefix,
          ),
        );
  };
  const view = (below: ReadableStorage): ReadableStorage => {
    const { size, stream, handle, snapshot } = below;
    return {
      ...(below.name !== undefined && { name: below.name }),
      read: async (path, options) => {
        const place = locate(path);
        return place === undefined ? undefined : below.read(place, options);
      },
      list: async (prefix, options) => {
        if (prefix !== "" || state === undefined) return list(prefix, below, options);
        const others = state.directories.filter((name) => !located.has(name));
        return {
          files: state.files,
          directories: [
            ...others,
            ...stepsOf(state)
              .map(String)
              .filter((name) => located.has(name)),
          ],
        };
      },
      ...(size && {
        size: async (path, options) => {
          const place = locate(path);
          return place === undefined ? undefined : size.call(below, place, options);
        },
      }),
      ...(stream && {
        stream: (path, range, options) => {
          const place = locate(path);
          if (place === undefined) throw absentFileError(path, range);
          return stream.call(below, place, range, options);
        },
      }),
      ...(handle && {
        handle: async (path, options) => {
          const place = locate(path);
          return place === undefined ? undefined : handle.call(below, place, options);
        },
      }),
      ...(snapshot && { snapshot: () => view(snapshot.call(below)) }),
    };
  };
  const refresh = async (context: TaskContext): Promise<StoreState> => {
    const fresh = await readState(root, context);
    const commits = await Promise.all(
      [...fresh.pending].map(async ([step, commit]) => {
        const waiting = commit.files === undefined ? new Set<string>() : await filesBelow(root, commit.folder, context);
        return [String(step), { commit, waiting, files: new Set(commit.files ?? []) }] as const;
      }),
    );
    state = fresh;
    located = new Map(commits);
    return fresh;
  };
  return {
    storage: view(root),
    async look(step, context) {
      if (step === undefined) return { state: await refresh(context), identity: undefined, place: "" };
      const wasPending = state?.pending.has(step) ?? false;
      // Read at the same time, since mostly nothing is pending: each question takes milliseconds.
      const stored = readIdentity(root, String(step), context);
      stored.catch(() => undefined); // it may be another one, or none, that counts
      const fresh = await refresh(context);
      if (!stepsOf(fresh).includes(step)) return { state: fresh, identity: undefined, place: "" };
      const found = located.get(String(step));
      if (found !== undefined)
        return { state: fresh, identity: found.commit.identity, place: `${found.commit.folder} ${found.waiting.size}` };
      // Of a commit that another process tidied meanwhile, the file may not have stood there yet.
      return { state: fresh, identity: await (wasPending ? readIdentity(root, String(step), context) : stored), place: "" };
    },
  };
}
