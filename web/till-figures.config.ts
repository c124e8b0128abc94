import { defineConfig } from '@playwright/test'
import tests from './playwright.config'

/** How fast the till is, measured: `make till-figures`. */
export default defineConfig({
  ...tests,
  testDir: 'figures',
  workers: 1,
  timeout: 900_000,
})
