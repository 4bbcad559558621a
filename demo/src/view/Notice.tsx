import type { ComponentChildren } from "preact";
import type { GpuProblem } from "../session/requestGpu.js";
import { gpuProblems } from "../session/requestGpu.js";

interface NoticeProps {
  readonly title: string;
  readonly action: string;
  onAction(): void;
  readonly children: ComponentChildren;
}

/** Something that stops the demo, where it happens, and what to do about it. */
export function Notice({ title, action, onAction, children }: NoticeProps) {
  return (
    <div class="notice" role="alert">
      <h3>{title}</h3>
      {children}
      <button type="button" class="primary" onClick={onAction}>
        {action}
      </button>
    </div>
  );
}

/** An error with its own words; the package's say what happened, where, and what to do. */
export function ErrorNotice({ title, error, onRetry }: { readonly title: string; readonly error: Error; onRetry(): void }) {
  return (
    <Notice title={title} action="Try again" onAction={onRetry}>
      <p class="message">
        <code>{error.name}</code> {error.message}
      </p>
    </Notice>
  );
}

/** No WebGPU: which browsers have it, and how to switch it on. */
export function NoGpuNotice({ problem, onRetry }: { readonly problem: GpuProblem; onRetry(): void }) {
  return (
    <Notice title="This demo needs WebGPU" action="Check again" onAction={onRetry}>
      <p>{gpuProblems[problem]}</p>
      <ul>{advice[problem]}</ul>
      <p class="quiet">The checkpoint itself needs no GPU to be opened: the list further down was read from it just now.</p>
    </Notice>
  );
}

const linuxAdvice = (
  <li>
    In Chrome on Linux, open <code>chrome://flags/#enable-unsafe-webgpu</code>, switch it on and start Chrome again.
  </li>
);

const advice: Readonly<Record<GpuProblem, ComponentChildren>> = {
  insecure: (
    <li>
      Open it with <code>https://</code>, or on this machine as <code>http://localhost</code>.
    </li>
  ),
  unsupported: (
    <>
      <li>Use Chrome or Edge 121 or newer, on Windows, macOS, ChromeOS or Android 12 and newer.</li>
      <li>Or Safari 26 or newer, on a Mac, iPhone or iPad.</li>
      <li>Or Firefox 141 or newer on Windows, 145 or newer on a Mac with Apple silicon.</li>
      {linuxAdvice}
    </>
  ),
  "no-adapter": (
    <>
      <li>Switch on graphics acceleration in the browser’s settings (System), and start it again.</li>
      {linuxAdvice}
      <li>
        Update the graphics driver; <code>chrome://gpu</code> says why a graphics processor is not used.
      </li>
      <li>Virtual machines and remote desktops often have none: use the browser on the machine itself.</li>
    </>
  ),
};
