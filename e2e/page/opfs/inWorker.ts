import type { OpfsTasks } from "./tasks.js";

type Report<Task extends keyof OpfsTasks> = Awaited<ReturnType<OpfsTasks[Task]>>;

/** Does in a dedicated worker what {@link OpfsTasks} do on the page. */
export async function inWorker<Task extends keyof OpfsTasks>(task: Task, ...given: Parameters<OpfsTasks[Task]>): Promise<Report<Task>> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise<Report<Task>>((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.error === undefined ? resolve(data.result) : reject(new Error(data.error)));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage({ task, given });
    });
  } finally {
    worker.terminate();
  }
}
