/** How a host lists folders for programs, and the address to ask; known from the storage's own address. */
export type HostApi =
  /** ListObjectsV2 of S3 and its like: XML. `prefix` is the storage's folder in the bucket, ending with `/`, or `""`. */
  | { readonly kind: "s3"; readonly bucket: URL; readonly prefix: string }
  /** Google Cloud Storage's JSON. */
  | { readonly kind: "gcs"; readonly objects: URL; readonly prefix: string }
  /** Hugging Face's tree; the prefix is the storage's folder in the repository. */
  | { readonly kind: "hf"; readonly tree: URL; readonly prefix: string };
