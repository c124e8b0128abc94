import { Chain } from './chain'
import { test as base } from './test'

/** A chain of five hundred stores besides its two, in which most things have names of sixty letters. */

const STORES = 500
const OTHERS = 60
const PEOPLE = 12

/** Sixty letters; every third is a short one, and every tenth has no place to break. */
export function longName(kind: string, index: number): string {
  const name = `${kind} ${String(index).padStart(3, '0')}`
  if (index % 10 === 0) return `${name} `.padEnd(60, 'w')
  return index % 3 === 0 ? name : `${name} beside the very old lighthouse and all of its gardens`.slice(0, 60).trimEnd()
}

/** So many at a time, as more would only wait. */
async function each(count: number, make: (index: number) => Promise<unknown>, atOnce = 25): Promise<void> {
  for (let made = 0; made < count; made += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - made) }, (_, index) => make(made + index)))
  }
}

const code = (letter: string, index: number) => `${letter}${String(index).padStart(3, '0')}`

/** Each row by its index: `Z010` is `Branch 010 www…`. */
async function fill({ admin }: Chain): Promise<void> {
  const first = async (path: string) => (await admin.get<{ id: string }[]>(path))[0]!.id
  await each(STORES, async (index) => {
    const draft = { code: code('Z', index), name: longName('Branch', index), timezone: 'UTC' }
    const { id } = await admin.post<{ id: string }>('/stores', draft)
    // In use, as far as headquarters knows.
    await admin.post(`/stores/${id}/activate`)
  })
  const of = { departmentId: await first('/departments?pageSize=1'), taxGroupId: await first('/tax-groups?pageSize=1') }
  await each(OTHERS, (index) =>
    admin.post('/products', { ...of, sku: code('ZZ-', index), name: longName('Kettle', index), price: 1_234_500 }),
  )
  await each(OTHERS, (index) =>
    admin.post('/customers', {
      ...{ firstName: longName('Wilhelmina', index), lastName: longName('Featherstone', index), allowDuplicate: true },
      ...{ companyName: longName('Company', index), email: `${'e'.repeat(40)}${index}@example.com` },
    }),
  )
  const role = await admin.post<{ id: string }>('/roles', { code: 'crowd', name: longName('Keeper', 10) })
  const person = (index: number) =>
    admin.post('/users', {
      ...{ username: code('long', index).padEnd(50, 'x'), displayName: longName('Person', index) },
      assignments: [{ roleId: role.id, storeId: null }],
    })
  // Headquarters makes few PINs at once, as it checks few.
  await each(PEOPLE, person, 2)
  const special = { code: 'LONG', name: longName('Special', 1), type: 'percent_off', percentBps: 1000 }
  await admin.post('/specials', { ...special, productId: await first('/products?search=ZZ-000') })
}

/** Made once, for all tests of a file. */
export const test = base.extend<object, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.start()
      await fill(chain)
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 400_000 },
  ],
})
