import { fileURLToPath, URL } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const headquarters = process.env.TILLKEEP_HQ ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [vue()],
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
            // What makes a QR code comes with the one page that shows one.
            { name: 'vendor', test: /node_modules[\\/](?!uqr[\\/])/ },
            { name: 'parts', test: /web[\\/]src[\\/](api|components|composables|format|session)[\\/]/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': headquarters, '/docs': headquarters } },
  test: { environment: 'happy-dom', include: ['tests/**/*.test.ts'], setupFiles: ['tests/setup.ts'] },
})
