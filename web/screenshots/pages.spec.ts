import { resolve } from 'node:path'
import { test } from '@playwright/test'
import { Client } from '../e2e/kit/chain'
import { settled } from '../e2e/kit/test'
import { arrange, lock, startDemo } from './demo'
import { PICTURES } from './pictures'

/** Each page of the demo chain at work, in light, in dark and on a telephone: whole for a review, and as the documentation shows some of them. */

const ROOT = resolve(import.meta.dirname, '../..')
const WIDE = { width: 1280, height: 800 }
const LOOKS = [
  { look: 'light', colorScheme: 'light', viewport: WIDE },
  { look: 'dark', colorScheme: 'dark', viewport: WIDE },
  { look: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const
/** As long as it takes until there is something to see. */
const SELLING_MS = 75_000
/** `PICTURES=tax,tender` makes those alone that have one of these in their name, while a page is built. */
const parts = (process.env.PICTURES ?? '').split(',')
const wanted = PICTURES.filter(({ name }) => name === 'login' || parts.some((part) => name.includes(part)))

test('pictures of every page', async ({ browser }) => {
  const demo = await startDemo()
  try {
    const login = { username: 'admin', pin: demo.pin }
    const tokens = await new Client(demo.url).post<{ accessToken: string; refreshToken: string }>('/auth/login', login)
    await lock(demo.url, Date.now() + SELLING_MS)
    const ids = await arrange(new Client(demo.url, tokens.accessToken), demo.url)
    const session = JSON.stringify({ ...tokens, expiresAt: Date.now() + 3_600_000 })
    for (const { look, ...options } of LOOKS) {
      // By its name, at which browsers have passkeys.
      const baseURL = demo.url.replace('127.0.0.1', 'localhost')
      const context = await browser.newContext({ ...options, baseURL })
      const page = await context.newPage()
      for (const { name, route, path, open, isShown, isShownOnPhone } of wanted) {
        // The first one is the sign-in; the others are for who is signed in.
        if (route !== 'login') await page.evaluate((text) => localStorage.setItem('tillkeep.session', text), session)
        await page.goto(path.replace(/:\w+/g, (key) => ids[key]!))
        await settled(page)
        await open?.(page)
        await settled(page)
        const file = `${name}-${look}.png`
        // What lies over a page is as high as the screen.
        await page.unrouteAll()
        await page.screenshot({ path: resolve(ROOT, 'target/pictures', file), fullPage: !open, animations: 'disabled' })
        if (look === 'phone' ? !isShownOnPhone : !isShown) continue
        await page.screenshot({ path: resolve(ROOT, 'docs/images', file), animations: 'disabled' })
      }
      await context.close()
    }
  } finally {
    demo.stop()
  }
})
