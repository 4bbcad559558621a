/** Opens a file in a worker to be read, as a restore does; gives what closes it. */
export async function holdFile(handle: FileSystemFileHandle): Promise<() => Promise<void>> {
  const script = `
    let open;
    onmessage = async ({ data }) => {
      if (data === "close") open.close();
      else open = await data.createSyncAccessHandle({ mode: "read-only" });
      postMessage("done");
    };`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const ask = (message: unknown) =>
    new Promise<void>((resolve, reject) => {
      worker.onmessage = () => resolve();
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(message);
    });
  await ask(handle);
  return async () => {
    await ask("close");
    worker.terminate();
  };
}
