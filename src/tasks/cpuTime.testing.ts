/** Milliseconds of processor time that this process took for work, whatever else the machine does meanwhile. */
export async function cpuTimeOf<Value>(work: () => Value): Promise<{ readonly value: Awaited<Value>; readonly cpuMs: number }> {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { value, cpuMs: (user + system) / 1000 };
}
