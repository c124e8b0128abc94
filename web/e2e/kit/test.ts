import { expect, test as base, type Page } from '@playwright/test'
import { Chain } from './chain'

/** What each test gets: the chain, and a page that is watched. */

interface Watched {
  /** Signs somebody of the chain in, without the form. */
  as: (username: string) => Promise<Page>
  /** Errors that a test causes on purpose. */
  allow: (pattern: RegExp) => void
}

export const test = base.extend<Watched, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.start()
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ chain }, use) => {
    await use(chain.hq.url)
  },
  allow: async ({}, use) => {
    await use((pattern) => allowed.push(pattern))
    allowed.length = 0
  },
  // Whatever a test is about: no error in the console (a breach of the policy is one) and no request elsewhere.
  page: async ({ page, chain, allow }, use) => {
    void allow
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      const { origin } = new URL(request.url())
      if (origin !== chain.hq.url) complaints.push(`a request to ${request.url()}`)
    })
    await use(page)
    expect(complaints.filter((text) => !allowed.some((pattern) => pattern.test(text)))).toEqual([])
  },
  as: async ({ page, chain }, use) => {
    await use(async (username) => {
      const { accessToken, refreshToken, expiresIn } = await chain.tokens(username)
      const session = JSON.stringify({ accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000 })
      await page.addInitScript((text) => {
        // The browser's own page about a server that is away has no storage.
        if (!location.protocol.startsWith('http') || document.URL.startsWith('chrome-error')) return
        if (location.origin === 'null' || window.origin === 'null') return
        if (sessionStorage.getItem('planted') === text) return
        sessionStorage.setItem('planted', text)
        localStorage.setItem('tillkeep.session', text)
      }, session)
      return page
    })
  },
})

const allowed: RegExp[] = []

/** A message in the corner of the page; a screen reader is told the same beside it. */
export const said = (page: Page, text: string | RegExp) => page.locator('.toast', { hasText: text }).first()

export { expect }
