import { defineConfig } from "vitest/config";

/** Tests on web servers as they are installed; `npm test` installs them first where it may. */
export default defineConfig({
  test: {
    include: ["e2e/hosts/**/*.test.ts"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
