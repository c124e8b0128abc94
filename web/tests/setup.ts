import { VueQueryPlugin } from '@tanstack/vue-query'
import { config } from '@vue/test-utils'
import { afterAll, vi } from 'vitest'
import { queryClient } from '@/api/queries'
import { i18n } from '@/texts'

/** What main.ts gives to the app that pages need. */
config.global.plugins = [[VueQueryPlugin, { queryClient }], i18n]

/** A page that a router still loads after the last test would look for a browser that is gone. */
afterAll(() => vi.dynamicImportSettled(), 60_000)
