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
  page('login', '/login', shown),
  page('change-pin', '/change-pin'),
  page('unauthorized', '/unauthorized?from=/hq/audit', shown),
  page('sync', '/hq/sync', { ...shown, isShownOnPhone: true }),
  page('sync-store', '/hq/sync/stores/:store', shown),
  page('sync-errors', '/hq/sync/errors', { ...shown, name: 'failed-entries' }),
  page('sync-errors', '/hq/sync/errors', { ...shown, name: 'failed-entry', open: (on) => press(on, /^Open /) }),
  page('sync-rollout', '/hq/sync/rollout', { ...shown, name: 'rollout' }),
  page('stores', '/hq/stores', shown),
  page('store-new', '/hq/stores/new'),
  page('store', '/hq/stores/:rotated', shown),
  page('products', '/hq/products', shown),
  page('product-new', '/hq/products/new'),
  page('product', '/hq/products/:product', shown),
  page('users', '/hq/users', shown),
  page('users', '/hq/users', { name: 'user-new', open: (on) => press(on, /^New user/) }),
  page('locks', '/hq/users/locks', shown),
  page('user', '/hq/users/:user', shown),
  page('roles', '/hq/roles', shown),
  page('explain', '/hq/roles/explain?userId=:user&code=pos.refund&storeId=:store', shown),
  page('role', '/hq/roles/:role', shown),
  page('audit', '/hq/audit', shown),
  page('account', '/hq/account', shown),
  page('not-found', '/hq/no-such-page'),
]

const press = (on: Page, name: RegExp) => on.getByRole('button', { name }).first().click()
