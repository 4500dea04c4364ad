import { defineConfig } from "@playwright/test";

// Debian's Chromium, two workers unless told otherwise. Each story has a server, a data folder and a window of its own.
export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  workers: Number(process.env.SUPERSTEP_WORKERS ?? 2),
  fullyParallel: true,
  // A busy machine is slow, not wrong: a story takes up to a minute on a quiet one.
  timeout: 300_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    // Each story would be recorded for the few that fail. Of one of those: ./dev test browser FILE --trace on
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
