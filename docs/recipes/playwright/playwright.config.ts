import { defineConfig } from "playwright/test";

/** WebGPU in headless Chromium, also on machines without a GPU: SwiftShader computes in software, with the same bits everywhere. */
export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: "../results",
  webServer: { command: "npx vite playwright --port 5199 --strictPort", cwd: "..", port: 5199 },
  use: {
    baseURL: "http://localhost:5199",
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH,
      args: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--no-sandbox"],
    },
  },
});
