/** The package's own types leave this file of it out. */
declare module "crc-32/crc32c.js" {
  const crc32c: { readonly buf: (bytes: Uint8Array, seed?: number) => number };
  export default crc32c;
}
