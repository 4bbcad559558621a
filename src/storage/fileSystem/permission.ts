import { StorageError } from "../../errors.js";
import { fileSystemError } from "./failures.js";

type Mode = "read" | "readwrite";

/** What TypeScript's types lack, and browsers without pickers have not. */
interface Guarded {
  queryPermission?(options: { readonly mode: Mode }): Promise<PermissionState>;
  requestPermission?(options: { readonly mode: Mode }): Promise<PermissionState>;
}

/** What a page may do with a folder that its user picked. */
export class Permission {
  readonly #handle: FileSystemDirectoryHandle & Guarded;
  readonly #mode: Mode;
  #granted: Promise<void> | undefined;

  constructor(handle: FileSystemDirectoryHandle, mode: Mode) {
    this.#handle = handle;
    this.#mode = mode;
  }

  /**
   * Sees to it that the page may, once: on a click the browser asks its user where it has to.
   * @throws StorageError `"permission"` where the user was not, or cannot be, asked, or said no; a later call tries again.
   */
  require(): Promise<void> {
    if (this.#granted !== undefined) return this.#granted;
    const granted = this.#ask();
    this.#granted = granted;
    granted.catch(() => {
      this.#granted = undefined;
    });
    return granted;
  }

  async #ask(): Promise<void> {
    const options = { mode: this.#mode };
    try {
      let state = (await this.#handle.queryPermission?.(options)) ?? "granted";
      // The browser would refuse to ask otherwise.
      if (state === "prompt" && isClick()) state = (await this.#handle.requestPermission?.(options)) ?? state;
      if (state !== "granted") throw this.#refused(state);
    } catch (cause) {
      throw cause instanceof StorageError ? cause : fileSystemError(this.#handle.name, cause);
    }
  }

  #refused(state: PermissionState): StorageError {
    const [to, mode] = this.#mode === "read" ? ["read", "read"] : ["write to", "readwrite"];
    const how =
      state === "prompt"
        ? `ask again on a click, by handle.requestPermission({ mode: "${mode}" })`
        : "its user said no: let them pick it again";
    return new StorageError({
      path: this.#handle.name,
      reason: "permission",
      message: `the page may not ${to} this folder of the user's; ${how}`,
    });
  }
}

const isClick = () =>
  (globalThis.navigator as { readonly userActivation?: { readonly isActive: boolean } } | undefined)?.userActivation?.isActive === true;
