import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../setup/freePort.js";
import { documentedConfig } from "./documentedConfig.js";

/** A web server that runs. */
export interface RunningHost {
  /** Without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** What a server is started with: where it writes, what it serves, on which port of this machine. */
interface Start {
  readonly scratch: string;
  readonly folder: string;
  readonly port: number;
}

/** Writes a server's settings; gives the arguments that start it in the foreground. */
type Prepare = (start: Start) => readonly string[];

const nginx: Prepare = ({ scratch, ...place }) => {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${join(scratch, kind)};`);
  const config = [
    `daemon off; master_process off; pid ${join(scratch, "pid")}; error_log stderr; events { }`,
    `http { access_log off; ${temporary.join(" ")}`,
    documentedConfig("nginx", place),
    "}",
  ];
  return ["-p", scratch, "-e", "stderr", "-c", written(scratch, "nginx.conf", config)];
};

const caddy: Prepare = ({ scratch, ...place }) => {
  const config = ["{\n  admin off\n  auto_https off\n}", documentedConfig("caddyfile", place)];
  return ["run", "--adapter", "caddyfile", "--config", written(scratch, "Caddyfile", config)];
};

const apache2: Prepare = ({ scratch, folder, port }) => {
  const modules = ["mpm_event", "authz_core", "env", "dir", "autoindex", "headers"];
  const config = [
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    `ServerName 127.0.0.1\nListen 127.0.0.1:${port}\nServerRoot "${scratch}"\nDefaultRuntimeDir "${scratch}"\nPidFile "${join(scratch, "pid")}"`,
    `ErrorLog "${join(scratch, "errors")}"\nUser www-data\nGroup www-data\nDocumentRoot "${folder}"`,
    documentedConfig("apache", { folder, port }),
  ];
  return ["-D", "FOREGROUND", "-f", written(scratch, "apache.conf", config)];
};

const python3: Prepare = ({ folder, port }) => ["-m", "http.server", `${port}`, "--bind", "127.0.0.1", "--directory", folder];

const prepares = { nginx, caddy, apache2, python3 };

/** Names of the servers that can be started. */
export const hostNames = Object.keys(prepares) as readonly (keyof typeof prepares)[];

/**
 * Starts a web server with the settings that docs/hosting.md gives, and waits until it answers.
 * @param scratch a folder of its own.
 */
export async function startHost(
  name: keyof typeof prepares,
  command: string,
  { scratch, folder }: Omit<Start, "port">,
): Promise<RunningHost> {
  mkdirSync(scratch, { recursive: true });
  const port = await freePort();
  // Caddy keeps its state in the home folder.
  const env = { ...process.env, HOME: scratch, XDG_CONFIG_HOME: scratch, XDG_DATA_HOME: scratch };
  const child = spawn(command, prepares[name]({ scratch, folder, port }), { cwd: scratch, env, stdio: ["ignore", "ignore", "pipe"] });
  const url = `http://127.0.0.1:${port}`;
  await answering(name, child, url);
  return { url, close: () => stopped(child) };
}

function written(folder: string, name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** Most looks at a server that starts; a busy machine takes its time. */
const mostLooks = 6000;

async function answering(name: string, child: ChildProcess, url: string): Promise<void> {
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = error;
  });
  for (let looks = 0; looks < mostLooks; looks += 1) {
    if (failure !== undefined || child.exitCode !== null) throw new Error(`${name} did not start: ${failure?.message ?? output}`);
    const isThere = await fetch(url).then(
      async (response) => response.arrayBuffer().then(() => true),
      () => false,
    );
    if (isThere) return;
    await delay(50);
  }
  await stopped(child);
  throw new Error(`${name} does not answer: ${output}`);
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
