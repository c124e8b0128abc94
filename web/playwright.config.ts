import { defineConfig } from '@playwright/test'

/** The client in a browser, against the real servers. `TILLKEEP` names the binary; `CHROMIUM` the browser. */
export default defineConfig({
  testDir: 'e2e',
  testMatch: '*.spec.ts',
  outputDir: 'test-results',
  // The same on every machine: what is compared brings its own letters.
  snapshotPathTemplate: '{testDir}/pictures/{arg}{ext}',
  // Each worker has a chain of its own, for one file of tests after the other. Each test makes what it needs: any can be
  // run alone.
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  timeout: 240_000,
  expect: { timeout: 60_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    headless: true,
    locale: 'en-US',
    timezoneId: 'America/New_York',
    viewport: { width: 1360, height: 900 },
    actionTimeout: 60_000,
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        // Tests run as root in containers; the pages are our own.
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
})
