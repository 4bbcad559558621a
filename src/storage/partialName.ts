const ending = ".partial";

/**
 * The name of a file while it is being filled, beside its place.
 * @param owner tells who fills it, without dots.
 */
export const formatPartialName = (owner: string, unique: string | number): string => `.${owner}.${unique}${ending}`;

/** Who fills the file; undefined for other names. */
export function partialOwner(name: string): string | undefined {
  const [empty, owner, ...rest] = name.endsWith(ending) ? name.split(".") : [];
  return empty === "" && rest.length === 2 ? owner : undefined;
}

/** True for the name of a file that is, or was, being filled. */
export const isPartialName = (name: string): boolean => partialOwner(name) !== undefined;
