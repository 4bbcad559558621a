/** What the keys of the array `name` begin with: a name that ends with a slash owns the keys right behind it, as TensorStore joins paths. */
export const keyPrefix = (name: string): string => (name === "" || name.endsWith("/") ? name : `${name}/`);
