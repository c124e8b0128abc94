import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { test, type Page } from '@playwright/test'
import { Client, customer, type Site } from '../e2e/kit/chain'
import { BINARY } from '../e2e/kit/process'

/** The demo chain at work, with a few things to see, and each page of it in light and dark. */

const IMAGES = resolve(import.meta.dirname, '../../docs/images')
/** As long as it takes until there is something to see. */
const SELLING_MS = 75_000

interface Demo {
  url: string
  pin: string
  stop: () => void
}

function startDemo(): Promise<Demo> {
  const child = spawn(BINARY, ['demo', '--stores', '3', '--pace', '40'], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((started, failed) => {
    let text = ''
    child.on('exit', () => failed(new Error('the demo ended')))
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const url = /Headquarters\s+(\S+)/.exec(text)?.[1]
      const pin = /^\s+admin\s+(\d+)/m.exec(text)?.[1]
      if (url && pin) started({ url, pin, stop: () => child.kill('SIGTERM') })
    })
  })
}

/** Somebody who goes on typing wrong PINs until that is blocked for half an hour. */
async function lock(url: string, until: number): Promise<void> {
  while (Date.now() < until) {
    await new Client(url).send('POST', '/auth/login', { username: 'cashier2', pin: '000001' })
    await new Promise((wait) => setTimeout(wait, 1000))
  }
}

/** Two failed entries, a warning, a store without a line, and some that were never seen. */
async function arrange(admin: Client, url: string): Promise<Record<string, string>> {
  const stores = await admin.get<{ id: string; code: string }[]>('/stores?sort=code')
  const third = stores[2]!
  const { syncToken } = await admin.post<{ syncToken: string }>(`/stores/${third.id}/provision`, { rotate: true })
  const site = { ...third, token: syncToken } as unknown as Site
  const push = (...envelopes: unknown[]) => new Client(url, syncToken).send('POST', '/sync/push', { envelopes })
  const free = await push(customer(site, 'S03-000901', 'Okafor'))
  if (free.status !== 200) throw new Error('the store was not heard')
  await push(customer(site, 'S03-000901', 'Lindqvist'), customer(site, 'S03-000901', 'Moreau'))
  for (const [code, name, city] of [
    ['S04', 'Mill Lane', 'Salem'],
    ['S05', 'Old Station', 'Portland'],
  ]) {
    await admin.post('/stores', { code, name, city, timezone: 'America/New_York' })
  }
  const [product] = await admin.get<{ id: string; price: number }[]>('/products?pageSize=1&sort=name')
  await admin.call('PATCH', `/products/${product!.id}`, { price: product!.price + 20 })
  const first = async (path: string) => (await admin.get<{ id: string }[]>(path))[0]!.id
  return {
    ':first': stores[0]!.id,
    ':third': third.id,
    ':product': await first('/products?pageSize=1&sort=name'),
    ':user': await first('/users?search=manager1'),
    ':role': await first('/roles?search=store_manager'),
  }
}

/** The picture's name, its page, and what to open there. */
const PICTURES: { name: string; path: string; open?: (page: Page) => Promise<void> }[] = [
  { name: 'sync', path: '/hq/sync' },
  { name: 'sync-store', path: '/hq/sync/stores/:first' },
  { name: 'failed-entries', path: '/hq/sync/errors' },
  {
    name: 'failed-entry',
    path: '/hq/sync/errors',
    open: (page) =>
      page
        .getByRole('button', { name: /^Open / })
        .first()
        .click(),
  },
  { name: 'rollout', path: '/hq/sync/rollout' },
  { name: 'stores', path: '/hq/stores' },
  { name: 'store', path: '/hq/stores/:third' },
  { name: 'products', path: '/hq/products' },
  { name: 'product', path: '/hq/products/:product' },
  { name: 'users', path: '/hq/users' },
  { name: 'user', path: '/hq/users/:user' },
  { name: 'locks', path: '/hq/users/locks' },
  { name: 'roles', path: '/hq/roles' },
  { name: 'role', path: '/hq/roles/:role' },
  { name: 'explain', path: '/hq/roles/explain?userId=:user&code=pos.refund&storeId=:first' },
  { name: 'audit', path: '/hq/audit' },
  { name: 'account', path: '/hq/account' },
  { name: 'unauthorized', path: '/unauthorized?from=/hq/audit' },
]

test('pictures of every page', async ({ browser }) => {
  const demo = await startDemo()
  try {
    const login = { username: 'admin', pin: demo.pin }
    const tokens = await new Client(demo.url).post<{ accessToken: string; refreshToken: string }>('/auth/login', login)
    await lock(demo.url, Date.now() + SELLING_MS)
    const ids = await arrange(new Client(demo.url, tokens.accessToken), demo.url)
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        baseURL: demo.url,
        colorScheme,
        viewport: { width: 1280, height: 800 },
      })
      const page = await context.newPage()
      const shoot = (name: string) => page.screenshot({ path: resolve(IMAGES, `${name}-${colorScheme}.png`) })
      await page.goto('/login')
      await page.getByLabel('User name').fill('admin')
      await shoot('login')
      const session = JSON.stringify({ ...tokens, expiresAt: Date.now() + 3_600_000 })
      await page.evaluate((text) => localStorage.setItem('tillkeep.session', text), session)
      for (const { name, path, open } of PICTURES) {
        await page.goto(path.replace(/:\w+/g, (key) => ids[key]!))
        await page.locator('h1').waitFor()
        await open?.(page)
        await page.waitForTimeout(1500)
        await shoot(name)
      }
      await page.setViewportSize({ width: 390, height: 800 })
      await page.goto('/hq/sync')
      await page.waitForTimeout(1500)
      await shoot('phone')
      await context.close()
    }
  } finally {
    demo.stop()
  }
})
