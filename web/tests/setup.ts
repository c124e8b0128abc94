import { VueQueryPlugin } from '@tanstack/vue-query'
import { config } from '@vue/test-utils'
import { queryClient } from '@/api/queries'

/** What main.ts gives to the app that pages need. */
config.global.plugins = [[VueQueryPlugin, { queryClient }]]
