import { requireArgument } from "../arguments.js";
import { withCheckedOptions } from "./checkedOptions.js";
import { directoryReading } from "./directoryHandle.js";
import { directoryWriting } from "./directoryWriting.js";
import { aDirectoryHandle } from "./fileSystem/directoryRule.js";
import { Permission } from "./fileSystem/permission.js";
import { webLocks } from "./locks/webLocks.js";
import type { WritableStorage } from "./storage.js";

/**
 * A folder that the user picked, as `showDirectoryPicker()` gives it. Other programs see its files as soon as they are written: a new one
 * stands there, empty, until it is closed, and a changed one changes at once then.
 *
 * The browser may have to ask its user again, which it does only on a click: outside of one, calls throw StorageError `"permission"`
 * until `handle.requestPermission({ mode: "readwrite" })` was granted.
 * @throws CheckpointValueError on what is no directory's handle.
 */
export function directoryStorage(handle: FileSystemDirectoryHandle): WritableStorage {
  requireArgument("what directoryStorage takes", handle, aDirectoryHandle);
  const reading = new Permission(handle, "read");
  const writing = new Permission(handle, "readwrite");
  const opened = async (permission: Permission) => {
    await permission.require();
    return handle;
  };
  return withCheckedOptions<WritableStorage>({
    ...directoryReading(handle.name, () => opened(reading)),
    ...directoryWriting({ openRoot: () => opened(writing) }),
    // Tabs can only tell folders apart by their names: those of one name take turns.
    locks: webLocks(`picked:${handle.name}`),
  });
}
