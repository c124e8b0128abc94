import type { Page } from '@playwright/test'

/** Every page, and what opens over some of them. `web/tests/pictures.test.ts` finds a page that is missing. */
export interface Picture {
  /** Of the files; those of a page alone are called as its route is. */
  name: string
  /** The name of its route. */
  route: string
  /** With `:store` and the like filled in. */
  path: string
  /** What is to be seen besides. */
  open?: (page: Page) => Promise<void>
  /** Whether the documentation shows it, in light and dark. */
  isShown?: boolean
  isShownOnPhone?: boolean
}

const page = (route: string, path: string, more: Partial<Picture> = {}): Picture => ({
  name: route,
  route,
  path,
  ...more,
})
const shown = { isShown: true }

export const PICTURES: readonly Picture[] = [
  page('login', '/login'),
  page('login', '/login', { ...shown, name: 'second-step', open: secondStep }),
  page('change-pin', '/change-pin'),
  page('unauthorized', '/unauthorized?from=/hq/audit'),
  page('today', '/hq/today', { ...shown, isShownOnPhone: true }),
  page('sales', '/hq/sales'),
  page('sale', '/hq/sales/:sale', shown),
  page('drawers', '/hq/drawers'),
  page('drawer', '/hq/drawers/:drawer', shown),
  page('z-reports', '/hq/z-reports'),
  page('z-report', '/hq/z-reports/:z'),
  page('zz-reports', '/hq/zz-reports'),
  page('zz-report', '/hq/zz-reports/:rotated/1?registerCode=09'),
  page('variance', '/hq/variance?storeId=:rotated'),
  page('journal', '/hq/journal?storeId=:rotated'),
  page('stock', '/hq/stock', shown),
  page('stock-changes', '/hq/stock/changes'),
  page('stock-product', '/hq/stock/:product'),
  page('sync', '/hq/sync', shown),
  page('sync-store', '/hq/sync/stores/:store', shown),
  page('sync-errors', '/hq/sync/errors', { name: 'failed-entries' }),
  page('sync-errors', '/hq/sync/errors', { ...shown, name: 'failed-entry', open: (on) => press(on, /^Open /) }),
  page('sync-rollout', '/hq/sync/rollout', { name: 'rollout' }),
  page('sync-warnings', '/hq/sync/warnings'),
  page('stores', '/hq/stores'),
  page('store-new', '/hq/stores/new'),
  page('store', '/hq/stores/:rotated', shown),
  page('products', '/hq/products'),
  page('product-new', '/hq/products/new'),
  page('product', '/hq/products/:product', shown),
  page('registers', '/hq/registers'),
  page('departments', '/hq/departments'),
  page('departments', '/hq/departments', { name: 'department-new', open: (on) => press(on, /^New department/) }),
  page('specials', '/hq/specials', shown),
  page('specials-calendar', '/hq/specials/calendar', shown),
  page('specials-calendar', '/hq/specials/calendar?span=month', { name: 'specials-month' }),
  page('specials-preview', '/hq/specials/preview'),
  page('specials-preview', '/hq/specials/preview', { ...shown, name: 'specials-priced', open: priceCart }),
  page('special-new', '/hq/specials/new'),
  page('special', '/hq/specials/:special'),
  page('taxes', '/hq/taxes'),
  page('taxes', '/hq/taxes', { name: 'tax-group-new', open: (on) => press(on, /^New tax group/) }),
  page('tax-rates', '/hq/taxes/rates'),
  page('tax-rates', '/hq/taxes/rates', { name: 'tax-rate-new', open: (on) => press(on, /^New tax rate/) }),
  page('tenders', '/hq/tenders'),
  page('tenders', '/hq/tenders', { name: 'tender-new', open: (on) => press(on, /^New tender/) }),
  page('reasons', '/hq/reasons'),
  page('reasons', '/hq/reasons', { name: 'reason-new', open: (on) => press(on, /^New reason/) }),
  page('sales-reps', '/hq/sales-reps'),
  page('sales-reps', '/hq/sales-reps', { name: 'sales-rep-new', open: (on) => press(on, /^New sales rep/) }),
  page('customers', '/hq/customers'),
  page('customers', '/hq/customers', { name: 'customer-new', open: (on) => press(on, /^New customer/) }),
  page('customer-sales', '/hq/customers/:customer/sales'),
  page('setup', '/hq/setup'),
  page('alerts', '/hq/alerts'),
  page('chain', '/hq/chain'),
  page('users', '/hq/users'),
  page('users', '/hq/users', { name: 'user-new', open: (on) => press(on, /^New user/) }),
  page('locks', '/hq/users/locks'),
  page('user', '/hq/users/:user', shown),
  page('roles', '/hq/roles'),
  page('roles', '/hq/roles', { ...shown, name: 'proof', open: proof }),
  page('explain', '/hq/roles/explain?userId=:user&code=pos.refund&storeId=:store', shown),
  page('role', '/hq/roles/:role'),
  page('audit', '/hq/audit'),
  page('account', '/hq/account'),
  page('security', '/hq/account/security', shown),
  page('security', '/hq/account/security', { ...shown, name: 'security-app', open: setUpApp }),
  page('second-factor', '/second-factor'),
  page('not-found', '/hq/no-such-page'),
]

/** The secret of an app, which is not confirmed and so opens nothing. */
async function setUpApp(on: Page): Promise<void> {
  await press(on, /^Set up an app/)
  await press(on, /^Go on/)
  await on.getByRole('img', { name: /QR code/ }).waitFor()
}

/** The first product that is found, three of it. */
async function priceCart(on: Page): Promise<void> {
  const product = on.getByRole('combobox', { name: 'Product' })
  await product.click()
  await on.getByRole('option').first().click()
  await on.getByLabel('Quantity').fill('3')
  await press(on, /^Work it out/)
  await on.getByRole('table', { name: 'Priced lines' }).waitFor()
}

/** What headquarters asks a user for who has all there is. */
const challenge = {
  ...{ id: crypto.randomUUID(), methods: ['passkey', 'totp', 'recovery'], passkey: { challenge: 'AQ' } },
  expiresAt: '2100-01-01T00:00:00.000Z',
}
const answer = (on: Page, path: string, status: number, code: string) =>
  on.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fulfill({ status, json: { success: false, error: code, code, challenge } })
  })

async function secondStep(on: Page): Promise<void> {
  await answer(on, '/auth/login', 401, 'second_factor_required')
  await on.getByLabel('User name').fill('admin')
  await on.getByLabel('PIN').fill('739154')
  await press(on, /^Sign in/)
  await on.getByRole('button', { name: 'Use a passkey' }).waitFor()
}

/** Over a form that is not lost by it. */
async function proof(on: Page): Promise<void> {
  await answer(on, '/roles', 403, 'second_factor_stale')
  await answer(on, '/auth/confirm', 401, 'second_factor_required')
  await press(on, /^New role/)
  await on.locator('[name=code]').fill('buyer')
  await on.locator('[name=name]').fill('Buyer')
  await press(on, /^Create role/)
  await on.getByRole('button', { name: 'Use a passkey' }).waitFor()
}

const press = (on: Page, name: RegExp) => on.getByRole('button', { name }).first().click()
