import { opfsTasks } from "./tasks.js";

interface Asked {
  readonly task: keyof typeof opfsTasks;
  readonly given: readonly never[];
}

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
  const task: (...given: readonly never[]) => Promise<unknown> = opfsTasks[data.task];
  try {
    postMessage({ result: await task(...data.given) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
