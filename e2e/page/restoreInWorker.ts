/** Restores one leaf onto a device of a worker's own; its bytes in hexadecimal. */
export async function restoreInWorker(url: string, step: number, item: string, path: string): Promise<string> {
  const worker = new Worker(new URL("./restoreWorker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.error === undefined ? resolve(data.hex) : reject(new Error(data.error)));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage({ url, step, item, path });
    });
  } finally {
    worker.terminate();
  }
}
