/**
 * Works on items as they come, on so many of them at once, and gives what comes of them in their order. Where one fails nothing more is asked
 * for; what still runs is left to itself.
 */
export async function* workAhead<Item, Value>(
  items: AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<Value>,
): AsyncGenerator<Value> {
  const running: Promise<Value>[] = [];
  for await (const item of items) {
    const value = work(item);
    value.catch(() => undefined); // heard in its turn
    running.push(value);
    if (running.length >= most) yield* running.splice(0, 1);
  }
  yield* running;
}
