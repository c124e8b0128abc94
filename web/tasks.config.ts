import { defineConfig } from '@playwright/test'
import tests from './playwright.config'

/** What everyday tasks take, counted and timed: `make tasks`. */
export default defineConfig({
  ...tests,
  testDir: 'tasks',
  workers: 1,
  timeout: 600_000,
})
