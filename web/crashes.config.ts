import { defineConfig } from '@playwright/test'
import tests from './playwright.config'

/** Browser and store killed at each step of paying, again and again: `make till-crashes`. */
export default defineConfig({
  ...tests,
  testMatch: 'till-crashes.spec.ts',
  workers: 1,
})
