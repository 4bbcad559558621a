import * as orbax from "orbax-webgpu";

declare global {
  interface Window {
    orbax: typeof orbax;
  }
}

window.orbax = orbax;
