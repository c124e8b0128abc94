import { defineConfig } from '@playwright/test'
import tests from './playwright.config'

/** Pictures of every page for the documentation: `make screenshots`. */
export default defineConfig({
  ...tests,
  testDir: 'screenshots',
  timeout: 900_000,
  use: { ...tests.use, viewport: { width: 1280, height: 800 } },
})
