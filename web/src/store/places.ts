import type en from '@/texts/en/shopFrame'

/**
 * What each page asks of the store first, and who is let in: the codes of that route, of which one is enough. A test holds them
 * against the description of the store.
 */
export const NEEDS = {
  today: { asks: 'GET /api/v1/pos/sales', permissions: ['pos.sell', 'reports.view_local'] },
  sales: { asks: 'GET /api/v1/pos/sales', permissions: ['pos.sell', 'reports.view_local'] },
  sale: { asks: 'GET /api/v1/pos/sales/{id}', permissions: ['pos.sell', 'pos.refund', 'reports.view_local'] },
  drawers: { asks: 'GET /api/v1/register-sessions', permissions: ['registers.view', 'reports.z_report'] },
  drawer: { asks: 'GET /api/v1/register-sessions/{id}', permissions: ['registers.view', 'reports.z_report'] },
  'z-reports': { asks: 'GET /api/v1/reports/z', permissions: ['reports.z_report'] },
  'z-report': { asks: 'GET /api/v1/reports/z/{sessionId}', permissions: ['reports.z_report'] },
  'zz-reports': { asks: 'GET /api/v1/reports/zz', permissions: ['reports.zz_report'] },
  'zz-report': { asks: 'GET /api/v1/reports/zz/{id}', permissions: ['reports.zz_report'] },
  safe: { asks: 'GET /api/v1/safe', permissions: ['registers.close', 'reports.z_report'] },
  stock: { asks: 'GET /api/v1/inventory', permissions: ['inventory.view'] },
  'stock-changes': { asks: 'GET /api/v1/inventory/adjustments', permissions: ['inventory.view'] },
  'stock-product': { asks: 'GET /api/v1/inventory/{productId}', permissions: ['inventory.view'] },
  customers: { asks: 'GET /api/v1/customers', permissions: ['customers.view', 'reports.z_report'] },
  customer: { asks: 'GET /api/v1/customers/{id}', permissions: ['customers.view', 'reports.z_report'] },
  registers: { asks: 'GET /api/v1/registers', permissions: ['registers.view', 'pos.sell'] },
  x: { asks: 'GET /api/v1/reports/x', permissions: ['reports.x_report'] },
  devices: { asks: 'GET /api/v1/devices', permissions: ['stores.edit', 'reports.z_report'] },
  printers: { asks: 'GET /api/v1/pos/prints', permissions: ['pos.sell', 'pos.refund'] },
  audit: { asks: 'GET /api/v1/audit-log', permissions: ['users.manage_roles', 'reports.z_report'] },
  line: { asks: 'GET /api/v1/sync/status', permissions: ['stores.view', 'reports.z_report'] },
} as const satisfies Record<string, { asks: string; permissions: readonly string[] }>

/** What is done on pages beside looking at them, by the codes of its route. */
export const DEEDS = {
  printReceipt: { asks: 'POST /api/v1/pos/sales/{id}/prints', permissions: ['pos.sell', 'pos.refund'] },
  readReceipt: { asks: 'GET /api/v1/pos/sales/{id}/receipt', permissions: ['pos.sell', 'pos.refund'] },
  printReport: {
    asks: 'POST /api/v1/pos/prints',
    permissions: ['reports.x_report', 'reports.z_report', 'reports.zz_report'],
  },
  printAgain: { asks: 'POST /api/v1/pos/prints/{id}/again', permissions: ['pos.sell', 'pos.refund'] },
  forceClose: { asks: 'POST /api/v1/register-sessions/{id}/force-close', permissions: ['registers.close'] },
  reassign: { asks: 'POST /api/v1/register-sessions/{id}/reassign', permissions: ['registers.open'] },
  readUsers: { asks: 'GET /api/v1/users', permissions: ['users.view'] },
  makeZz: { asks: 'POST /api/v1/reports/zz', permissions: ['reports.zz_report'] },
  moveSafe: { asks: 'POST /api/v1/safe/movements', permissions: ['registers.close', 'reports.z_report'] },
  adjust: { asks: 'POST /api/v1/inventory/adjustments', permissions: ['inventory.adjust'] },
  makeCustomer: { asks: 'POST /api/v1/customers', permissions: ['customers.create'] },
  customerSales: {
    asks: 'GET /api/v1/customers/{id}/sales',
    permissions: ['customers.view', 'reports.z_report'],
  },
  makeRegister: { asks: 'POST /api/v1/registers', permissions: ['stores.edit', 'reports.z_report'] },
  changeRegister: { asks: 'PATCH /api/v1/registers/{id}', permissions: ['stores.edit', 'reports.z_report'] },
  enrol: { asks: 'POST /api/v1/devices', permissions: ['stores.edit', 'reports.z_report'] },
  takeBack: { asks: 'DELETE /api/v1/devices/{id}', permissions: ['stores.edit', 'reports.z_report'] },
  readOutbox: { asks: 'GET /api/v1/sync/outbox', permissions: ['stores.view', 'reports.z_report'] },
  requeue: { asks: 'POST /api/v1/sync/outbox/{id}/requeue', permissions: ['stores.edit'] },
  requeueAll: { asks: 'POST /api/v1/sync/outbox/requeue-all', permissions: ['stores.edit'] },
  syncNow: { asks: 'POST /api/v1/sync/now', permissions: ['stores.edit'] },
  readLocks: { asks: 'GET /api/v1/auth/locks', permissions: ['users.edit', 'reports.z_report'] },
  readStore: { asks: 'GET /api/v1/stores/{id}', permissions: ['stores.view'] },
  readTill: { asks: 'GET /api/v1/pos/bootstrap', permissions: ['pos.sell'] },
} as const satisfies Record<string, { asks: string; permissions: readonly string[] }>

export type PageName = keyof typeof NEEDS

/** The menu: groups by their names, with the pages that stand in it. */
export const MENU = [
  { group: 'selling', pages: ['today', 'sales', 'stock', 'customers'] },
  { group: 'money', pages: ['drawers', 'z-reports', 'zz-reports', 'safe'] },
  { group: 'shop', pages: ['registers', 'devices', 'printers', 'line', 'audit'] },
] as const satisfies readonly { group: keyof typeof en; pages: readonly PageName[] }[]

/** A page with an entry in the menu. */
export type MenuPage = (typeof MENU)[number]['pages'][number]
