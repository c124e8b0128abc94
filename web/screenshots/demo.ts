import { spawn } from 'node:child_process'
import { Client, customer, type Site } from '../e2e/kit/chain'
import { codeOf } from '../e2e/kit/factors'
import { BINARY } from '../e2e/kit/process'
import { week } from './days'

/** The demo chain at work, with a few things to see. */

export interface Demo {
  url: string
  pin: string
  stop: () => void
}

export function startDemo(): Promise<Demo> {
  const child = spawn(BINARY, ['demo', '--stores', '3', '--pace', '40'], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((started, failed) => {
    let text = ''
    child.on('exit', () => failed(new Error('the demo ended')))
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const [, url, pin] = /Open (\S+) and sign in as admin with the PIN (\d+)/.exec(text) ?? []
      if (url && pin) started({ url, pin, stop: () => child.kill('SIGTERM') })
    })
  })
}

/** A stranger who goes on typing wrong PINs until that is blocked for a quarter of an hour. */
export async function lock(url: string, until: number): Promise<void> {
  while (Date.now() < until) {
    await new Client(url).send('POST', '/auth/login', { username: 'cashier2', pin: '000001' })
    await new Promise((wait) => setTimeout(wait, 1000))
  }
}

/** Two failed entries, a warning, a week of drawers, a store without a line, some that were never seen, and an app of the administrator. */
export async function arrange(admin: Client, url: string): Promise<Record<string, string>> {
  const app = await admin.post<{ id: string; secret: string }>('/auth/factors/totp', { name: 'Telephone' })
  await admin.post(`/auth/factors/totp/${app.id}`, { code: codeOf(app.secret) })
  const stores = await admin.get<{ id: string; code: string }[]>('/stores?sort=code')
  const third = stores[2]!
  const { syncToken } = await admin.post<{ syncToken: string }>(`/stores/${third.id}/provision`, { rotate: true })
  const site = { ...third, token: syncToken } as unknown as Site
  const push = (...envelopes: unknown[]) => new Client(url, syncToken).send('POST', '/sync/push', { envelopes })
  const free = await push(customer(site, 'S03-000901', 'Okafor'))
  if (free.status !== 200) throw new Error('the store was not heard')
  await push(customer(site, 'S03-000901', 'Lindqvist'), customer(site, 'S03-000901', 'Moreau'))
  const [manager] = await admin.get<{ id: string; displayName: string }[]>('/users?search=manager1')
  const drawers = week(site, manager!.id, manager!.displayName)
  await push(...drawers)
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
    ':store': stores[0]!.id,
    ':rotated': third.id,
    ':product': await first('/products?pageSize=1&sort=name'),
    ':special': await first('/specials?pageSize=1'),
    ':sale': await first('/sales?pageSize=1'),
    ':customer': await first('/customers?pageSize=1'),
    ':drawer': await first('/register-sessions?pageSize=1'),
    ':z': drawers.at(-1)!.entity_id as string,
    ':user': await first('/users?search=manager1'),
    ':role': await first('/roles?search=store_manager'),
  }
}
