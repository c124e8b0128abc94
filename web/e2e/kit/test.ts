import { expect, test as base, type ConsoleMessage, type Page } from '@playwright/test'
import { Chain } from './chain'

/** What each test gets: the chain, and pages that are watched. */

interface Watched {
  /** Signs a user of the chain in, without the form. */
  as: (username: string) => Promise<Page>
  /** Answers that a test causes on purpose, by their status. Nothing else of what is complained about can be allowed. */
  allow: (...statuses: number[]) => void
  /** Headquarters is away for a while: requests that reach no server are no complaint. */
  allowOutage: () => void
}

export interface Allowed {
  statuses: Set<number>
  outage: boolean
}

const STATUS = /^Failed to load resource: the server responded with a status of (\d+)/
const NETWORK = /^Failed to load resource: net::ERR_/
/** Said of each page that came without TLS, under an address that is not of this machine alone. */
const UNTRUSTWORTHY = /^The Cross-Origin-Opener-Policy header has been ignored/
const POLICY = /Content Security Policy/

/** What a message in the console is to be blamed for, if anything. */
export function complaint(message: ConsoleMessage, allowed: Allowed): string | undefined {
  const text = message.text()
  // A breach may be shown as a warning.
  if (POLICY.test(text)) return `against the policy: ${text}`
  if (message.type() !== 'error' || UNTRUSTWORTHY.test(text)) return undefined
  const status = STATUS.exec(text)?.[1]
  if (status) return allowed.statuses.has(Number(status)) ? undefined : `${text} ${message.location().url}`
  if (NETWORK.test(text)) return allowed.outage ? undefined : text
  return `in the console: ${text}`
}

export const test = base.extend<Watched & { allowed: Allowed; keepLogs: void }, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.start()
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  // First of all, and so ended last: also what fails at the end of a test is known by then.
  keepLogs: [
    async ({ chain }, use, info) => {
      await use()
      if (info.errors.length > 0 || info.status !== info.expectedStatus) chain.hasFailed = true
    },
    { auto: true },
  ],
  baseURL: async ({ chain }, use) => {
    await use(chain.hq.url)
  },
  allowed: async ({}, use) => {
    await use({ statuses: new Set(), outage: false })
  },
  allow: async ({ allowed }, use) => {
    await use((...statuses) => statuses.forEach((status) => allowed.statuses.add(status)))
  },
  allowOutage: async ({ allowed }, use) => {
    await use(() => void (allowed.outage = true))
  },
  // Whatever a test is about, in each of its tabs: no error in the console (a breach of the policy is one), none in the
  // program, and no request elsewhere.
  context: async ({ context, baseURL, allowed }, use) => {
    const complaints: string[] = []
    const complain = (text: string | undefined) => text && complaints.push(text)
    context.on('console', (message) => complain(complaint(message, allowed)))
    context.on('weberror', (error) => complain(`an error: ${String(error.error())}`))
    context.on('request', (request) => {
      const { origin } = new URL(request.url())
      if (origin !== baseURL) complain(`a request to ${request.url()}`)
    })
    await use(context)
    expect(complaints).toEqual([])
  },
  as: async ({ page, chain }, use) => {
    await chain.endLent()
    await use(async (username) => {
      const { accessToken, refreshToken, expiresIn } = await chain.tokens(username)
      const expiresAt = Date.now() + expiresIn * 1000
      const session = JSON.stringify({ accessToken, refreshToken, expiresAt, signIn: crypto.randomUUID() })
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

/** Signs a user in as people do. */
export async function signIn(page: Page, { username, pin }: { username: string; pin: string }): Promise<void> {
  await page.getByLabel('User name', { exact: true }).fill(username)
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Entries of the menu. */
export const menu = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link')

/** A page with its data. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator('h1, .empty').first()).toBeVisible()
  await expect(page.getByText(/^Loading /)).toHaveCount(0)
}

/** A message in the corner of the page; a screen reader gets the same beside it. */
export const said = (page: Page, text: string | RegExp) => page.locator('.toast', { hasText: text }).first()

export { expect }
