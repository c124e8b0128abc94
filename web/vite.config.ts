import { fileURLToPath, URL } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { VitePWA } from 'vite-plugin-pwa'
import { defineConfig } from 'vitest/config'
import { ENTRIES, pagesOfStore, proxyOfStore, tillFiles, userOf, type Grouping } from './vite.entries.ts'

const headquarters = process.env.TILLKEEP_HQ ?? 'http://127.0.0.1:8080'

/** Files of ours that the first page does without: what draws forms, lists of filters, menus, charts and the search. */
const LATER = [
  'components/(AccountDrop|ChangedSince|ChangePinForm|Entity|FormDialog|FormField|ListFilters|PeriodFilter|PersonSelect|RolloutStatus)',
  'components/(RowsPage|SaveBar|SearchSelect|ToastList|charts|files|search/(Search|hits|useEverything|pages))',
  'composables/(amounts|fields|inWords|kind|periods|useConflict|useFieldForm|useFreePlace|userLookup)',
].join('|')
/** The frame of headquarters, which knows all of its pages. */
const OF_HQ = 'components/AppShell|router/(index|routes)'
const OTHERS = 'node_modules/(vee-validate|@floating-ui|reka-ui/dist/(?!(AlertDialog|Dialog)/))'
const CHARTS = 'node_modules/(echarts|zrender|tslib)/'

/** Files by their paths, with whichever stroke the system writes. */
const files = (pattern: string) => new RegExp(pattern.replaceAll('/', '[\\\\/]'))

const till = tillFiles()
const userOfFile = userOf()
/** What the till has from the beginning, shared or its own; what comes later is a file for each part. */
const ofTill: Grouping = (id, graph) => {
  const user = userOfFile(id, graph)
  return user === 'later' ? null : user
}
/** Packages of the pages, which have more than the till: a router, tables, the client of their servers. */
const ofPages: Grouping = (id, graph) => (userOfFile(id, graph) === null ? 'vendor' : null)

/** The till's files for when the store server is away. Everything of it stands in src/till/till-sw.ts and update.ts. */
const serviceWorker = VitePWA({
  strategies: 'injectManifest',
  srcDir: 'src/till',
  filename: 'till-sw.ts',
  // Headquarters and the store's pages have none, so that nothing is put into any page.
  injectRegister: false,
  manifest: false,
  injectManifest: {
    globPatterns: ['**/*.{js,css,html,svg,woff2}'],
    // What is named after its content needs no other mark.
    dontCacheBustURLsMatching: /^assets\//,
    manifestTransforms: [
      (entries) => ({
        manifest: entries
          .filter(({ url }) => till.has(url))
          .map((entry) => ({ ...entry, url: entry.url === ENTRIES.till ? '/till' : `/${entry.url}` })),
      }),
    ],
  },
})

export default defineConfig({
  // Tests make no files.
  plugins: [vue(), pagesOfStore(), ...(process.env.VITEST ? [] : [till.plugin, serviceWorker])],
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
      input: ENTRIES,
      output: {
        codeSplitting: {
          groups: [
            // A group takes with it what its files stand on, so the lowest come first.
            { name: ofTill, priority: 6 },
            // What draws charts comes with the pages that show one, as what makes a QR code does.
            { name: 'charts', test: files(CHARTS), priority: 5 },
            { name: ofPages, test: files(`^(?!.*(${OTHERS})).*node_modules/(?!uqr/)`), priority: 4 },
            {
              name: 'parts',
              test: files(`web/src/(?!${LATER}|${OF_HQ})(api|components|composables|format|session|texts/index)`),
              priority: 3,
            },
            { name: 'hq', test: files(`web/src/(${OF_HQ})`), priority: 2 },
            { name: 'forms', test: files(`${OTHERS}|web/src/(${LATER})`), priority: 1 },
            // The dashboard is the first page of many: its small parts are one file.
            {
              name: 'board',
              test: files('web/src/pages/sync/(board|tiles|FeedPill|LastHeard|SyncTabs|StatePill)'),
              priority: 0,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { ...proxyOfStore, '/api': headquarters, '/docs': headquarters } },
  test: {
    environment: 'happy-dom',
    // Beside a compiler that takes all of the processor.
    testTimeout: 30_000,
    include: ['tests/**/*.test.ts'],
    setupFiles: ['tests/setup.ts'],
    // What draws charts needs a canvas.
    alias: [{ find: /^\.\/echarts$/, replacement: fileURLToPath(new URL('./tests/charts.ts', import.meta.url)) }],
  },
})
