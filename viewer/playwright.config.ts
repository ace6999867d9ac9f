import { defineConfig } from "@playwright/test";

/** The distribution's browser, without anything that would reach for a network. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export default defineConfig({
  testDir: "test",
  outputDir: "../target/viewer-tests",
  timeout: 30_000,
  workers: 2,
  // Chromium itself may crash when it is started, as has been seen: what fails twice has failed.
  retries: 1,
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS },
  },
});
