// @ts-check
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { candidatesOf } from "../../../../e2e/setup/python.mjs";

/** @typedef {{ sdist: string, sdistVersion: string, sdistSha256: string, file: string, fileSha256: string, zstdVersion: string }} Source */

/** @param {import("node:crypto").BinaryLike} bytes */
export const sha256Of = (bytes) => createHash("sha256").update(bytes).digest("hex");

/**
 * zstd's single file, out of a source package that pip downloads once and that stays in `cache`.
 * @param {{ source: Source, cache: string, run: import("../../../../e2e/setup/commands.mjs").Run }} options
 * @returns {Promise<string>}
 * @throws {Error} where it cannot be had, or is not the pinned one.
 */
export async function zstdSource({ source, cache, run }) {
  const name = `${source.sdist}-${source.sdistVersion}.tar.gz`;
  if (!existsSync(join(cache, name))) await download({ source, cache, name, run });
  const archive = readFileSync(join(cache, name));
  if (sha256Of(archive) !== source.sdistSha256) throw new Error(`${join(cache, name)} is not the pinned ${name}; delete it and try again`);
  const file = memberOf(gunzipSync(archive), `${source.sdist}-${source.sdistVersion}/${source.file}`);
  if (file === undefined || sha256Of(file) !== source.fileSha256) throw new Error(`${name} does not hold the pinned ${source.file}`);
  return file.toString("utf8");
}

/**
 * By the pip of the first Python that has one. The hash is checked before pip looks into the package.
 * @param {{ source: Source, cache: string, name: string, run: import("../../../../e2e/setup/commands.mjs").Run }} wanted
 */
async function download({ source, cache, name, run }) {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "making-zstd-"));
  try {
    const requirement = join(folder, "requirement.txt");
    writeFileSync(requirement, `${source.sdist}==${source.sdistVersion} --hash=sha256:${source.sdistSha256}\n`);
    const outputs = [];
    for (const python of candidatesOf(process.env, homedir())) {
      const options = ["--disable-pip-version-check", "--no-deps", "--no-binary", source.sdist, "--dest", folder];
      const args = ["-m", "pip", "download", ...options, "--requirement", requirement];
      const { code, output } = await run(python, args, { timeoutSeconds: 300 });
      if (code === 0 && existsSync(join(folder, name))) return renameSync(join(folder, name), join(cache, name));
      outputs.push(`${python}: ${output.trim().split("\n").at(-1)}`);
    }
    throw new Error(`no Python here could download ${source.sdist} ${source.sdistVersion} with pip:\n${outputs.join("\n")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const blockBytes = 512;

/**
 * A file of a tar archive: headers of 512 bytes with the name in the first 100 and the length, in octal, at 124.
 * @param {Buffer} archive
 * @param {string} wanted
 * @returns {Buffer | undefined}
 */
function memberOf(archive, wanted) {
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const name = archive.toString("latin1", at, at + 100).replace(/\0.*$/s, "");
    const length = Number.parseInt(archive.toString("latin1", at + 124, at + 135), 8) || 0;
    const start = at + blockBytes;
    if (name === wanted) return archive.subarray(start, start + length);
    at = start + Math.ceil(length / blockBytes) * blockBytes;
  }
  return undefined;
}
