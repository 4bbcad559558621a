import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests of the built package, as a user's project sees it; `npm test` runs them after the build. */
export default defineConfig({
  test: {
    include: ["e2e/package/**/*.test.ts"],
    globalSetup: join(import.meta.dirname, "installPacked.ts"),
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
