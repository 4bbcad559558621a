/** What a mirror has done since it was made. */
export interface MirrorProgress {
  /** File that moved last; `""` when none did. */
  readonly path: string;
  /** Bytes that came from the source. */
  readonly fetchedBytes: number;
  /** Bytes that came from the cache instead. */
  readonly servedBytes: number;
  /** True where the source gave no answer when it was asked last. */
  readonly offline: boolean;
  /** Why bytes could not be kept, of which the reads themselves hear nothing; undefined where all that was read is in the cache. */
  readonly problem: Error | undefined;
}

/** Nothing yet. */
export const noProgress: MirrorProgress = { path: "", fetchedBytes: 0, servedBytes: 0, offline: false, problem: undefined };
