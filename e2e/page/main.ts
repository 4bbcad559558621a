import * as orbax from "orbax-webgpu";
import * as internals from "./internals.js";

declare global {
  interface Window {
    /** The built package, as its users import it. */
    readonly orbax: typeof orbax;
    /** Parts of the source that the package does not export, and what tests do with them. */
    readonly internals: typeof internals;
  }
}

Object.assign(window, { orbax, internals });
