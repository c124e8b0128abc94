import en from '@/texts/en/permissions'
import { room } from '@/texts'
import { words } from './labels'

const t = room('permissions', en)

/** Permission codes as words for people, by module: `reports.x_report` is "X report" of "Reports". */

export interface Module {
  module: string
  permissions: string[]
  /** Those of them that nothing asks for yet. */
  notInUse?: string[]
}

const MODULES: Readonly<Record<string, keyof typeof en>> = {
  customers: 'moduleCustomers',
  inventory: 'moduleInventory',
  pos: 'modulePos',
  products: 'moduleProducts',
  purchase_orders: 'modulePurchaseOrders',
  registers: 'moduleRegisters',
  reports: 'moduleReports',
  roles: 'moduleRoles',
  sales_reps: 'moduleSalesReps',
  specials: 'moduleSpecials',
  store_prices: 'moduleStorePrices',
  stores: 'moduleStores',
  suppliers: 'moduleSuppliers',
  taxes: 'moduleTaxes',
  tenders: 'moduleTenders',
  transfers: 'moduleTransfers',
  users: 'moduleUsers',
  worksheets: 'moduleWorksheets',
}

/** By what follows the module in a code. */
const RIGHTS: Readonly<Record<string, keyof typeof en>> = {
  adjust: 'mayAdjust',
  apply: 'mayApply',
  approve: 'mayApprove',
  cashier_performance: 'mayCashierPerformance',
  close: 'mayClose',
  count: 'mayCount',
  create: 'mayCreate',
  delete: 'mayDelete',
  discount: 'mayDiscount',
  'discount.override_max': 'mayDiscountOverrideMax',
  discount_analysis: 'mayDiscountAnalysis',
  edit: 'mayEdit',
  manage: 'mayManage',
  manage_roles: 'mayManageRoles',
  open: 'mayOpen',
  park_cart: 'mayParkCart',
  'price.override': 'mayPriceOverride',
  product_performance: 'mayProductPerformance',
  profit_margin: 'mayProfitMargin',
  provision: 'mayProvision',
  receive: 'mayReceive',
  refund: 'mayRefund',
  sales_by_rep: 'maySalesByRep',
  sell: 'maySell',
  send: 'maySend',
  submit: 'maySubmit',
  view: 'mayView',
  view_global: 'mayViewGlobal',
  view_local: 'mayViewLocal',
  void: 'mayVoid',
  x_report: 'mayXReport',
  z_report: 'mayZReport',
  zz_report: 'mayZzReport',
}

/** A code of a later release by its own words. */
const wordOf = (texts: typeof MODULES, code: string): string =>
  Object.hasOwn(texts, code) ? t(texts[code]!) : words(code)

export const moduleName = (module: string): string => wordOf(MODULES, module)

/** `pos.discount.override_max` → `Discount override max`. */
export const codeName = (code: string): string => wordOf(RIGHTS, code.slice(code.indexOf('.') + 1))

/** Codes by their modules, in the order of the modules' names. */
export function byModule(codes: readonly string[]): Module[] {
  const modules = new Map<string, string[]>()
  for (const code of codes) {
    const module = code.slice(0, code.indexOf('.'))
    modules.set(module, [...(modules.get(module) ?? []), code])
  }
  return [...modules]
    .map(([module, permissions]) => ({ module, permissions }))
    .sort((one, other) => moduleName(one.module).localeCompare(moduleName(other.module)))
}
