/**
 * Builds the interface for both hosts: the desktop window (WebKit, hence the target) and the browser. While developing,
 * commands and events are passed on to a running HTTP host (`SUPERSTEP_HOST`, `SUPERSTEP_TOKEN`).
 */
/// <reference types="vitest/config" />
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
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

const root = import.meta.dirname;
const TESTS = ["src/**/*.test.{ts,tsx}"];
/** Tests that draw: their first line says that they need a document. */
const drawn = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.test\.tsx?$/.test(file))
  .map((file) => `src/${file}`)
  .filter((file) => readFileSync(join(root, file), "utf8").startsWith("// @vitest-environment jsdom"));

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
    // The tests take the maps away again (`./dev`): they show which files a story ran.
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
    restoreMocks: true,
    unstubGlobals: true,
    // A busy machine is slow, not wrong.
    testTimeout: 60_000,
    // Contexts of one worker (`vmThreads`) are quick as well, and now and then miss what a test replaces.
    pool: "threads",
    projects: [
      // The start of a thread costs more than most files: they share some, and `fresh.ts` loads their modules again.
      {
        extends: true,
        test: {
          name: "plain",
          include: TESTS,
          exclude: drawn,
          isolate: false,
          setupFiles: ["src/test/fresh.ts"],
        },
      },
      // A document keeps listeners of modules that are gone.
      { extends: true, test: { name: "drawn", include: drawn, environment: "jsdom" } },
    ],
  },
});
