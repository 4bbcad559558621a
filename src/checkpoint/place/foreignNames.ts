/** Names that file managers, object stores, version control and synchronisation leave in folders; none belongs to a checkpoint. */
const foreignNames: readonly RegExp[] = [
  /^(?:\._.*|\.DS_Store|__MACOSX|\.Trashes)$/, // macOS
  /^(?:Thumbs\.db|desktop\.ini)$/i, // Windows
  /_\$folder\$$/, // Hadoop on object stores
  /^\.(?:git|gitattributes|gitignore|gitkeep|dvc|cache|huggingface)$/,
  /^(?:\.ipynb_checkpoints|__pycache__|@eaDir|lost\+found)$/,
];

/** Whether a file or folder was left by another program. */
export const isForeign = (name: string): boolean => foreignNames.some((pattern) => pattern.test(name));
