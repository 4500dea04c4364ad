/**
 * Builds the interface for both hosts: the desktop window (WebKit, hence the target) and the browser. While developing,
 * commands and events are passed on to a running HTTP host (`SUPERSTEP_HOST`, `SUPERSTEP_TOKEN`).
 */
/// <reference types="vitest/config" />
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const host = process.env.SUPERSTEP_HOST ?? "http://127.0.0.1:7420";
const token = process.env.SUPERSTEP_TOKEN;
// The host checks Origin and Host against its own address, so the proxy speaks in its name.
const headers: Record<string, string> = {
  origin: host,
  ...(token ? { authorization: `Bearer ${token}` } : {}),
};

export default defineConfig({
  plugins: [react(), tailwindcss()],
  clearScreen: false,
  server: {
    port: 1420,
    strictPort: true,
    fs: { allow: [".."] },
    proxy: {
      "/rpc": { target: host, changeOrigin: true, headers },
      "/events": { target: host, changeOrigin: true, ws: true, headers },
    },
  },
  worker: { format: "es" },
  build: {
    target: "safari16",
    // The tests take the maps away again (`./dev`): they tell which files a story ran.
    sourcemap: process.env.SUPERSTEP_MAPS ? "hidden" : false,
    chunkSizeWarningLimit: 2000,
    // The index of a feature only names its parts: taking one of them does not load the others.
    rolldownOptions: {
      // Runs before the rest: it asks the host what the window waits for.
      output: { codeSplitting: { groups: [{ name: "first", test: /\/src\/ipc\// }] } },
      treeshake: { moduleSideEffects: [{ test: /\/features\/[^/]+\/index\.ts$/, sideEffects: false }] },
    },
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "node",
    // Contexts of one worker (`vmThreads`) take less than half of the time, and now and then miss what a test replaces.
    pool: "threads",
    restoreMocks: true,
    // A busy machine is slow, not wrong.
    testTimeout: 60_000,
  },
});
