import { fileURLToPath, URL } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const headquarters = process.env.TILLKEEP_HQ ?? 'http://127.0.0.1:8080'

/** Files of ours that the first page does without: what draws forms, lists of filters, menus, charts and the search. */
const LATER = [
  'components/(AccountDrop|ChangedSince|ChangePinForm|Entity|FormDialog|FormField|ListFilters|PeriodFilter|PersonSelect|RolloutStatus)',
  'components/(RowsPage|SaveBar|SearchSelect|ToastList|charts|files|search/(Search|hits|useEverything|pages))',
  'composables/(amounts|fields|inWords|kind|periods|useConflict|useFieldForm|useFreePlace|userLookup)',
].join('|')
const OTHERS = 'node_modules/(vee-validate|@floating-ui|reka-ui/dist/(?!(AlertDialog|Dialog)/))'
const CHARTS = 'node_modules/(echarts|zrender|tslib)/'

/** Files by their paths, with whichever stroke the system writes. */
const files = (pattern: string) => new RegExp(pattern.replaceAll('/', '[\\\\/]'))

export default defineConfig({
  plugins: [vue()],
  // Texts are compiled where they are shown, without `eval`, which the policy forbids; the former interface is left out.
  define: { __VUE_I18N_LEGACY_API__: false, __INTLIFY_JIT_COMPILATION__: true, __INTLIFY_PROD_DEVTOOLS__: false },
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // The content security policy lets no data: URL in, so that nothing may be inlined.
    assetsInlineLimit: 0,
    // The bundle is compressed when it is put into the binary; doing it here as well only costs time.
    reportCompressedSize: false,
    // What the licences of the bundled packages ask for; crates/web answers it at /licences.md.
    license: { fileName: 'licences.md' },
    // Preloads are links that the policy allows; the polyfill would be an inline script.
    modulePreload: { polyfill: false },
    // Few files for the first page, since each is a way there and back on a slow line.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // A group takes with it what its files stand on, so the lowest come first.
            // What draws charts comes with the pages that show one, as what makes a QR code does.
            { name: 'charts', test: files(CHARTS), priority: 4 },
            { name: 'vendor', test: files(`^(?!.*${OTHERS}).*node_modules/(?!uqr/)`), priority: 3 },
            {
              name: 'parts',
              test: files(`web/src/(?!${LATER})(api|components|composables|format|session|texts/index)`),
              priority: 2,
            },
            { name: 'forms', test: files(`${OTHERS}|web/src/(${LATER})`), priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': headquarters, '/docs': headquarters } },
  test: {
    environment: 'happy-dom',
    include: ['tests/**/*.test.ts'],
    setupFiles: ['tests/setup.ts'],
    // What draws charts needs a canvas.
    alias: [{ find: /^\.\/echarts$/, replacement: fileURLToPath(new URL('./tests/charts.ts', import.meta.url)) }],
  },
})
