/** @typedef {{ name: string, directory: boolean, size: number }} Entry */

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** @param {Entry} entry */
const hrefOf = ({ name, directory }) => encodeURIComponent(name) + (directory ? "/" : "");

/** @param {Entry} entry */
const labelOf = ({ name, directory }) => escaped(name) + (directory ? "/" : "");

/**
 * The page that a server prints for a directory, in its style.
 * @type {Record<import("./server.d.mts").IndexStyle, (path: string, entries: Entry[]) => string>}
 */
export const directoryPages = {
  python: (path, entries) =>
    [
      "<!DOCTYPE HTML>",
      '<html lang="en">',
      "<head>",
      '<meta charset="utf-8">',
      `<title>Directory listing for ${escaped(path)}</title>`,
      "</head>",
      "<body>",
      `<h1>Directory listing for ${escaped(path)}</h1>`,
      "<hr>",
      "<ul>",
      ...entries.map((entry) => `<li><a href="${hrefOf(entry)}">${labelOf(entry)}</a></li>`),
      "</ul>",
      "<hr>",
      "</body>",
      "</html>",
      "",
    ].join("\n"),

  // nginx leaves out names that begin with a dot, cuts long labels and prints CRLF.
  nginx: (path, entries) =>
    [
      "<html>",
      `<head><title>Index of ${escaped(path)}</title></head>`,
      "<body>",
      `<h1>Index of ${escaped(path)}</h1><hr><pre><a href="../">../</a>`,
      ...entries
        .filter(({ name }) => !name.startsWith("."))
        .map((entry) => {
          const label = entry.name.length > 50 ? `${escaped(entry.name.slice(0, 47))}..&gt;` : labelOf(entry);
          return `<a href="${hrefOf(entry)}">${label}</a> 02-Aug-2026 10:00 ${entry.directory ? "-" : entry.size}`;
        }),
      "</pre><hr></body>",
      "</html>",
      "",
    ].join("\r\n"),

  apache: (path, entries) =>
    [
      '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">',
      "<html>",
      ` <head>\n  <title>Index of ${escaped(path)}</title>\n </head>`,
      " <body>",
      `<h1>Index of ${escaped(path)}</h1>`,
      "  <table>",
      '   <tr><th valign="top"><img src="/icons/blank.gif" alt="[ICO]"></th><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>',
      `<tr><td valign="top"><img src="/icons/back.gif" alt="[PARENTDIR]"></td><td><a href="${escaped(path.replace(/[^/]*\/$/, ""))}">Parent Directory</a></td><td>&nbsp;</td></tr>`,
      ...entries
        .filter(({ name }) => !name.startsWith("."))
        .map(
          (entry) =>
            `<tr><td valign="top"><img src="/icons/unknown.gif" alt="[   ]"></td><td><a href="${hrefOf(entry)}">${labelOf(entry)}</a></td><td align="right">2026-08-02 10:00  </td></tr>`,
        ),
      "</table>",
      "</body></html>",
      "",
    ].join("\n"),
};
