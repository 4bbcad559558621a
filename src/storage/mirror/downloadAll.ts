import { CheckpointNotFoundError } from "../../errors.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import type { Keeper } from "./keeper.js";
import type { MirrorSession } from "./session.js";

/** Files that are fetched at once. */
const atOnce = 4;

/**
 * Keeps all files below a prefix.
 * @throws CheckpointNotFoundError where a folder has none, what kept one from being kept, and what reading throws.
 */
export async function downloadAll(session: MirrorSession, keeper: Keeper, prefix: string, signal: AbortSignal): Promise<void> {
  keeper.tell({ problem: undefined });
  await stopTogether(
    async (together) => {
      const stop = together.signal ?? signal;
      const paths = await pathsBelow(session, prefix, stop);
      if (paths.length === 0 && prefix !== "") throw nothingBelow(keeper, prefix);
      const next = async (): Promise<void> => {
        for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
          await session.fill(path, stop);
          requireKept(keeper);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, next));
      await keeper.settled();
      requireKept(keeper);
    },
    { signal },
  );
}

function requireKept({ progress: { problem } }: Keeper): void {
  if (problem !== undefined) throw problem;
}

const nothingBelow = ({ folder }: Keeper, prefix: string): CheckpointNotFoundError =>
  new CheckpointNotFoundError(undefined, `${folder.source}/${prefix.slice(0, -1)}`, {
    advice: "the folder is empty, or is not there: check the address",
  });

/** All files, the last ones first. */
async function pathsBelow(session: MirrorSession, prefix: string, signal: AbortSignal): Promise<string[]> {
  const { files, directories } = await session.list(prefix, signal);
  const below: string[] = [];
  for (const name of directories) below.push(...(await pathsBelow(session, `${prefix}${name}/`, signal)));
  return [...files.map((name) => prefix + name), ...below].reverse();
}
