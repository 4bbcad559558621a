import { copyIntoOpfs } from "./copyIntoOpfs.js";
import { type BenchDevice, openDevice } from "./openDevice.js";
import type { Command, Told } from "./protocol.js";
import { runContender } from "./runContender.js";
import { checkSaved, runSave } from "./saved/runSave.js";

/** Tells the bench something; the answer, which may take long, is the next command. */
async function tell(told: Told): Promise<Command> {
  const response = await fetch("/told", { method: "POST", body: JSON.stringify({ seat: location.search, told }) });
  return response.json();
}

async function perform(command: Command, opened: BenchDevice): Promise<Told> {
  switch (command.kind) {
    case "run":
      return { kind: "done", outcome: await runContender(opened, command) };
    case "copy":
      await copyIntoOpfs(command);
      return { kind: "copied" };
    case "save":
      return { kind: "done", outcome: await runSave(opened, command) };
    case "check":
      await checkSaved(opened, command);
      return { kind: "checked" };
    case "reload":
      location.reload();
      return new Promise(() => {}); // the next page tells
    default:
      return command satisfies never;
  }
}

const failed = (error: unknown): Told => ({
  kind: "failed",
  message: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error),
});

async function obey(): Promise<void> {
  const opened = await openDevice();
  let told: Told = {
    kind: "ready",
    browser: navigator.userAgent,
    adapter: opened.adapter,
    isolated: globalThis.crossOriginIsolated,
  };
  for (;;) told = await perform(await tell(told), opened).catch(failed);
}

await obey().catch((error) => tell(failed(error)));
