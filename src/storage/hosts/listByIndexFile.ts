import { longestJson } from "../../bytes/json.js";
import { isCheckpointError, StorageError } from "../../errors.js";
import type { HttpSession } from "../http/session.js";
import { sniff } from "../http/sniff.js";
import { type HttpTarget, targetOf } from "../http/target.js";
import { listingOf } from "../listing.js";
import type { StorageListing } from "../storage.js";
import { indexFileName, parseIndexFile } from "./indexFile.js";
import { readText } from "./readText.js";

/**
 * Entries of a folder by the file that `writeIndex` wrote at the storage's root, read each time, so that a new one is seen; undefined where
 * there is none.
 * @throws StorageError `"not-a-checkpoint"` where the file is damaged, else as a read.
 */
export async function listByIndexFile(
  session: HttpSession,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<StorageListing | undefined> {
  const target = targetOf(session.settings.base, indexFileName);
  const answer = await refusedAsAbsent(
    readText(session, { target, accept: "application/json", longest: longestJson, unlisted: [401], signal }),
  );
  // Hosts of single-page apps answer their page for all that they have not.
  if (answer === undefined || /html|xml/i.test(answer.headers.get("content-type") ?? "")) return undefined;
  if (sniff(answer.bytes, null, indexFileName) === "html") return undefined;
  const paths = parsed(answer.bytes);
  if (paths === undefined) throw damagedIndex(target);
  return listingOf(paths.filter(isPath), prefix);
}

function damagedIndex({ path, label }: HttpTarget): StorageError {
  const message = "this list of files is damaged, or of a later version; write it again with writeIndex(), or remove it";
  return new StorageError({ path, url: label, reason: "not-a-checkpoint", message });
}

/** Object stores that may not be listed refuse what is not there. */
async function refusedAsAbsent<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isCheckpointError(error, "Storage") && error.reason === "cannot-list") return undefined;
    throw error;
  }
}

function parsed(bytes: Uint8Array): readonly string[] | undefined {
  try {
    return parseIndexFile(bytes);
  } catch (error) {
    if (isCheckpointError(error, "Corrupt")) return undefined;
    throw error;
  }
}

const isPath = (path: string): boolean => path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
