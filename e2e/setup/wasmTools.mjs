// @ts-check

/** @typedef {Record<string, string | undefined>} ToolVersions The versions of clang, lld and wasi-libc; undefined for what is not there. */

/**
 * What is on this machine of the tools that compile zstd's decoder.
 * @param {import("./commands.mjs").Run} run
 * @returns {Promise<ToolVersions>}
 */
export async function wasmTools(run) {
  const versionIn = async (/** @type {string} */ command, /** @type {string[]} */ args, /** @type {RegExp} */ pattern) => {
    const { code, stdout } = await run(command, args, { timeoutSeconds: 60 });
    return code === 0 ? pattern.exec(stdout)?.[1] : undefined;
  };
  return {
    clang: await versionIn("clang-19", ["--version"], /clang version ([\d.]+)/),
    lld: await versionIn("wasm-ld-19", ["--version"], /LLD ([\d.]+)/),
    "wasi-libc": await versionIn(
      "dpkg-query",
      ["--show", `--showformat=\${db:Status-Status} \${Version}`, "wasi-libc"],
      /^installed (\S+)/,
    ),
  };
}
