import type { Page } from '@playwright/test'
import type { Chain } from './kit/chain'
import { expect, menu, settled, test } from './kit/test'

/** Codes one of which is needed: in some store, or in all of them. */
interface Need {
  anyOf: string[]
  everywhere?: true
}
const need = (...anyOf: string[]): Need => ({ anyOf })
const everywhere = (...anyOf: string[]): Need => ({ anyOf, everywhere: true })

const STORES = need('stores.view')
const PRODUCTS = need('products.view')
const TAXES = need('taxes.view')
const TENDERS = need('tenders.view')
const CUSTOMERS = need('customers.view')
const SETUP = everywhere('taxes.manage', 'products.create', 'tenders.manage', 'stores.create', 'users.create')
const USERS = need('users.view')
const ROLES = need('roles.view', 'users.manage_roles')
const REGISTERS = need('registers.view')
/** Who looks after registers, and who sees what was sold. */
const DRAWERS = need('registers.view', 'reports.view_local', 'reports.view_global')
const STOCK = need('inventory.view')
const SPECIALS = need('specials.view')
const REPS = need('sales_reps.view')
/** How far reports go: one of these, and the code of a report besides. */
const VIEWS = need('reports.view_local', 'reports.view_global')
const Z = need('reports.z_report')
const ZZ = need('reports.zz_report')
/** Who reads what was booked, and who says on which accounts. */
const JOURNAL = need('reports.z_report', 'stores.edit')

/** Each page with its heading and all that it needs; `:store` and the like are filled in. */
const PAGES: { path: string; heading: string | RegExp; needs: Need[] }[] = [
  { path: '/hq/today', heading: 'Today', needs: [VIEWS] },
  { path: '/hq/sales', heading: 'Sales', needs: [VIEWS] },
  { path: '/hq/drawers', heading: 'Drawers', needs: [DRAWERS] },
  { path: '/hq/z-reports', heading: 'Z reports', needs: [VIEWS, Z] },
  { path: '/hq/zz-reports', heading: 'ZZ reports', needs: [VIEWS, ZZ] },
  { path: '/hq/variance', heading: 'Over and short', needs: [VIEWS, Z] },
  { path: '/hq/journal', heading: 'Journal', needs: [JOURNAL] },
  { path: '/hq/stock', heading: 'Stock', needs: [STOCK] },
  { path: '/hq/stock/changes', heading: 'Stock', needs: [STOCK] },
  { path: '/hq/stock/:product', heading: /./, needs: [STOCK] },
  { path: '/hq/sync', heading: 'Synchronisation', needs: [STORES] },
  { path: '/hq/sync/errors', heading: 'Failed entries', needs: [STORES] },
  { path: '/hq/sync/warnings', heading: 'Warnings', needs: [STORES] },
  { path: '/hq/sync/rollout', heading: 'Rollout', needs: [STORES] },
  { path: '/hq/sync/stores/:store', heading: 'S01 Harbor Street', needs: [STORES] },
  { path: '/hq/stores', heading: 'Stores', needs: [STORES] },
  { path: '/hq/stores/new', heading: 'New store', needs: [STORES, everywhere('stores.create')] },
  { path: '/hq/stores/:store', heading: 'S01 Harbor Street', needs: [STORES] },
  { path: '/hq/registers', heading: 'Registers', needs: [REGISTERS] },
  { path: '/hq/products', heading: 'Products', needs: [PRODUCTS] },
  { path: '/hq/products/new', heading: 'New product', needs: [PRODUCTS, everywhere('products.create')] },
  { path: '/hq/products/:product', heading: /./, needs: [PRODUCTS] },
  { path: '/hq/departments', heading: 'Departments', needs: [PRODUCTS] },
  { path: '/hq/specials', heading: 'Specials', needs: [SPECIALS] },
  { path: '/hq/specials/calendar', heading: 'Calendar of specials', needs: [SPECIALS] },
  { path: '/hq/specials/preview', heading: 'What a cart costs', needs: [SPECIALS] },
  { path: '/hq/specials/new', heading: 'New special', needs: [SPECIALS, everywhere('specials.manage')] },
  { path: '/hq/specials/:special', heading: /./, needs: [SPECIALS] },
  { path: '/hq/taxes', heading: 'Tax groups', needs: [TAXES] },
  { path: '/hq/taxes/rates', heading: 'Tax rates', needs: [TAXES] },
  { path: '/hq/tenders', heading: 'Tenders', needs: [TENDERS] },
  { path: '/hq/reasons', heading: 'Reasons', needs: [STORES] },
  { path: '/hq/sales-reps', heading: 'Sales representatives', needs: [REPS] },
  { path: '/hq/customers', heading: 'Customers', needs: [CUSTOMERS] },
  { path: '/hq/customers/:customer/sales', heading: /^Sales of /, needs: [CUSTOMERS] },
  { path: '/hq/setup', heading: 'First steps', needs: [SETUP] },
  { path: '/hq/alerts', heading: 'Alerts', needs: [STORES] },
  { path: '/hq/chain', heading: 'Chain', needs: [STORES] },
  { path: '/hq/users', heading: 'Users', needs: [USERS] },
  { path: '/hq/users/locks', heading: 'Locked sign-ins', needs: [USERS, need('users.edit')] },
  { path: '/hq/users/:user', heading: /./, needs: [USERS] },
  { path: '/hq/roles', heading: 'Roles', needs: [ROLES] },
  { path: '/hq/roles/explain', heading: 'Who may do what', needs: [ROLES, need('roles.view')] },
  { path: '/hq/roles/:role', heading: 'Cashier', needs: [ROLES, need('roles.view')] },
  { path: '/hq/audit', heading: 'Audit log', needs: [everywhere('users.manage_roles')] },
  { path: '/hq/account', heading: 'Your account', needs: [] },
  { path: '/hq/account/security', heading: 'Security of your account', needs: [] },
]
const MENU = {
  Today: [VIEWS],
  Sales: [VIEWS],
  Drawers: [DRAWERS],
  Stock: [STOCK],
  Customers: [CUSTOMERS],
  'Z reports': [VIEWS, Z],
  'ZZ reports': [VIEWS, ZZ],
  'Over and short': [VIEWS, Z],
  Journal: [JOURNAL],
  Products: [PRODUCTS],
  Departments: [PRODUCTS],
  Specials: [SPECIALS],
  Taxes: [TAXES],
  Tenders: [TENDERS],
  Stores: [STORES],
  Registers: [REGISTERS],
  Reasons: [STORES],
  Synchronisation: [STORES],
  Alerts: [STORES],
  Chain: [STORES],
  Users: [USERS],
  Roles: [ROLES],
  'Sales representatives': [REPS],
  'Audit log': [everywhere('users.manage_roles')],
}
const REFUSED = 'You may not open this page'

/** The pages with the ids of this chain. */
async function pagesOf(chain: Chain): Promise<typeof PAGES> {
  const first = async (list: string) => (await chain.admin.get<{ id: string }[]>(list))[0]!.id
  const ids: Record<string, string> = {
    ':store': chain.sites[0]!.id,
    ':product': await first('/products?pageSize=1'),
    ':special': await first('/specials?pageSize=1'),
    ':customer': await first('/customers?pageSize=1'),
    // Of S01, for those who see that store alone.
    ':user': await first('/users?search=manager1'),
    ':role': await first('/roles?search=cashier'),
  }
  return PAGES.map((page) => ({ ...page, path: page.path.replace(/:\w+/, (key) => ids[key]!) }))
}

/** Goes to a path as a link of the page does, without loading everything again. */
const goWithin = (page: Page, path: string) =>
  page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: null }))
  }, path)

async function expectAt(page: Page, path: string, heading: string | RegExp): Promise<void> {
  await expect(page).toHaveURL(path)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
}

test('an administrator opens every page and has all of the menu', async ({ page, as, chain }) => {
  await as('admin')
  for (const { path, heading } of await pagesOf(chain)) {
    await page.goto(path)
    await expectAt(page, path, heading)
  }
  await expect(menu(page)).toHaveText(Object.keys(MENU))
})

/** What the roles of a shop open at headquarters, of their store. */
const OF_SHOPS = {
  manager1: {
    may: [STOCK, VIEWS, DRAWERS, Z, ZZ, JOURNAL],
    menu: ['Today', 'Sales', 'Drawers', 'Stock', 'Z reports', 'ZZ reports', 'Over and short', 'Journal'],
    first: '/hq/today',
    heading: 'Today',
  },
  cashier1: { may: [STOCK], menu: ['Stock'], first: '/hq/stock', heading: 'Stock' },
}

for (const [username, { may, menu: shown, first, heading: atFirst }] of Object.entries(OF_SHOPS)) {
  test(`a ${username.slice(0, -1)} opens ${shown.join(', ')} of their store and no other page`, async ({
    page,
    as,
    chain,
  }) => {
    await as(username)
    await page.goto('/')
    await expectAt(page, first, atFirst)
    await expect(menu(page)).toHaveText(shown)
    for (const { path, needs } of await pagesOf(chain)) {
      if (needs.every((one) => may.includes(one))) continue
      await goWithin(page, path)
      await expectAt(page, `/unauthorized?from=${path}`, REFUSED)
    }
  })
}

test('who has roles that open no page of headquarters reads so', async ({ page, as, chain }) => {
  await chain.hire('seller', ['pos.sell'])
  await as('seller')
  await page.goto('/')
  await expect(page).toHaveURL('/unauthorized')
  await expect(page.getByText('None of your roles opens a page')).toBeVisible()
})

/** What a user holds: in all stores, or in S01 alone. */
interface Holder {
  all?: string[]
  inOne?: string[]
}
const HOLDERS: Holder[] = [
  // Each code alone: a page that asks for less than it should opens for one of these.
  { all: ['stores.view'] },
  // Beside a code that opens nothing alone.
  { all: ['stores.create', 'reports.view_global'] },
  { all: ['products.view'] },
  { all: ['products.create'] },
  { all: ['taxes.view'] },
  { all: ['tenders.view'], inOne: ['customers.view'] },
  { all: ['specials.view'], inOne: ['sales_reps.view'] },
  { all: ['specials.manage', 'sales_reps.view'], inOne: ['stores.view'] },
  { all: ['specials.manage'], inOne: ['specials.view'] },
  { all: ['specials.view'], inOne: ['specials.manage'] },
  { all: ['users.view'] },
  { all: ['users.edit', 'registers.view'] },
  { all: ['roles.view'] },
  { all: ['reports.z_report', 'reports.zz_report'] },
  { inOne: ['reports.view_local'] },
  { inOne: ['stores.edit'] },
  { all: ['users.manage_roles'] },
  // What is enough: a page that asks for more stays shut for one of these.
  { all: ['stores.create'], inOne: ['stores.view'] },
  { all: ['products.create'], inOne: ['products.view'] },
  { inOne: ['users.view', 'users.edit'] },
  { inOne: ['reports.z_report', 'reports.view_local'] },
  { all: ['reports.view_global'], inOne: ['reports.zz_report'] },
  // Held in one store, where all are needed.
  { all: ['stores.view'], inOne: ['stores.create'] },
  { all: ['products.view'], inOne: ['products.create'] },
  { inOne: ['users.manage_roles'] },
]

/** Whether a user satisfies all of the needs. */
function satisfies({ all = [], inOne = [] }: Holder, needs: Need[]): boolean {
  return needs.every(({ anyOf, everywhere }) =>
    anyOf.some((code) => all.includes(code) || (!everywhere && inOne.includes(code))),
  )
}

/** Whether a code of the user has to do with what a page needs: others are as shut as for a cashier. */
const concerns = ({ all = [], inOne = [] }: Holder, needs: Need[]): boolean =>
  needs.length === 0 || needs.some(({ anyOf }) => anyOf.some((code) => all.includes(code) || inOne.includes(code)))

const nameOf = ({ all, inOne }: Holder) =>
  [all && `${all.join(', ')} in all stores`, inOne && `${inOne.join(', ')} in one`].filter(Boolean).join(' and ')

HOLDERS.forEach((holder, index) => {
  test(`who holds ${nameOf(holder)} opens what that is enough for`, async ({ page, as, chain }) => {
    const parts = [
      ...(holder.all ? [{ codes: holder.all }] : []),
      ...(holder.inOne ? [{ codes: holder.inOne, storeId: chain.sites[0]!.id }] : []),
    ]
    await chain.hire(`holder${index}`, parts)
    await as(`holder${index}`)
    await page.goto('/hq/account')
    await expectAt(page, '/hq/account', 'Your account')
    const shown = Object.entries(MENU).filter(([, needs]) => satisfies(holder, needs))
    await expect(menu(page)).toHaveText(shown.map(([title]) => title))
    for (const { path, heading, needs } of await pagesOf(chain)) {
      if (!concerns(holder, needs)) continue
      await goWithin(page, path)
      const may = satisfies(holder, needs)
      await expectAt(page, may ? path : `/unauthorized?from=${path}`, may ? heading : REFUSED)
      if (may) await settled(page)
    }
  })
})

test('who comes from outside to a page that needs more reads what it needs', async ({ page, as, chain }) => {
  await chain.hire('onlooker', ['stores.view'])
  await as('onlooker')
  await page.goto('/hq/stores/new')
  await expect(page).toHaveURL('/unauthorized?from=/hq/stores/new')
  await expect(page.locator('main')).toContainText('stores.create')
  await page.goto('/hq/audit')
  await expect(page.locator('main')).toContainText('users.manage_roles')
  await page.getByRole('link', { name: 'To what you may open' }).click()
  await expect(page).toHaveURL('/hq/stores')
})

test('a role that is taken away closes its pages at the next request', async ({ page, as, chain, allow }) => {
  allow(401, 403)
  const id = await chain.hire('watcher', ['stores.view'])
  await as('watcher')
  await page.goto('/hq/stores')
  await expect(page.getByRole('heading', { name: 'Stores' })).toBeVisible()
  const [grant] = await chain.admin.get<{ id: string }[]>(`/users/${id}/roles`)
  await chain.admin.call('DELETE', `/users/${id}/roles/${grant!.id}`)
  await page.getByRole('searchbox').fill('x')
  // The one before says what is missing; since the client asks again what it may do, it goes there by itself.
  await expect(page.getByRole('alert').or(page.getByText(REFUSED)).first()).toBeVisible()
  await page.reload()
  await expect(page).toHaveURL(/\/unauthorized/)
})

test('who is not signed in sees no page at all', async ({ page, chain }) => {
  for (const { path } of await pagesOf(chain)) {
    await page.goto(path)
    await expect(page).toHaveURL(`/login?redirect=${path}`)
  }
})
