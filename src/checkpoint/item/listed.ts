/** Most leaves that a message lists. */
const mostListed = 20;

/** Leaves by their paths, for an error. */
export function listed(paths: readonly string[]): string {
  const more = paths.length > mostListed ? ` and ${paths.length - mostListed} more` : "";
  return (
    paths
      .slice(0, mostListed)
      .map((path) => JSON.stringify(path))
      .join(", ") + more
  );
}
