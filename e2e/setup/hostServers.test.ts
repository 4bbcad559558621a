import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { recordInstalls } from "./commands.mjs";
import { findHostServers, missingHostServers } from "./hostServers.mjs";

const all = ["nginx", "caddy", "apache2", "python3"];
let top = "";
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "orbax-webgpu-servers-"));
  mkdirSync(join(top, "usr", "bin"), { recursive: true });
  put("apt-get");
});
afterEach(() => rmSync(top, { recursive: true }));

function put(...names: string[]): void {
  for (const name of names) writeFileSync(join(top, "usr", "bin", name), "");
}

/** A Debian that root rules, where apt brings these. */
function missing({ install, brings = all }: { install: boolean; brings?: string[] }) {
  const recorded = recordInstalls({
    run: async (_, args) => {
      const fails = brings.length === 0;
      if (args[0] === "install") put(...brings);
      return { code: fails ? 100 : 0, stdout: "", stderr: "", output: fails ? "E: no such package" : "" };
    },
  });
  const machine = { platform: "linux", top, isRoot: true } as const;
  const find = () => findHostServers([join(top, "usr", "bin")]);
  return { installs: recorded.installs, reason: missingHostServers({ run: recorded.run, install, machine, find }) };
}

it("nothing is installed where all are there", async () => {
  put(...all);
  const { installs, reason } = missing({ install: true });
  expect(await reason).toBeUndefined();
  expect(installs).toEqual([]);
});

it("those that are missing are installed where that may be, and not started", async () => {
  put("nginx", "python3");
  const { installs, reason } = missing({ install: true });
  expect(await reason).toBeUndefined();
  expect(installs.at(-1)).toMatch(/install.*caddy apache2/);
  expect(installs.join()).not.toContain("nginx");
});

it("says what is not tried where nothing may be installed, or that fails", async () => {
  put("python3", "apache2", "caddy");
  expect(await missing({ install: false }).reason).toBe("not tried: nginx; Debian has them: apt-get install nginx-light");
  expect(await missing({ install: true, brings: [] }).reason).toMatch(
    /not tried: nginx; .*apt-get ended with code 100: E: no such package/,
  );
});
