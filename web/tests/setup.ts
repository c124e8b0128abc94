import { VueQueryPlugin } from '@tanstack/vue-query'
import { config } from '@vue/test-utils'
import { queryClient } from '@/api/queries'
import { i18n } from '@/texts'

/** What main.ts gives to the app that pages need. */
config.global.plugins = [[VueQueryPlugin, { queryClient }], i18n]
