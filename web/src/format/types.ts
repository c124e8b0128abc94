import type en from '@/texts/en/format'
import { words } from './labels'
import { t } from './texts'

/** Kinds of rows, as people call one of them and several. */
const NAMES: Readonly<Record<string, keyof typeof en>> = {
  account_charges: 'typeAccountCharges',
  alert_hooks: 'typeAlertHooks',
  audit_log: 'typeAuditLog',
  cash_movements: 'typeCashMovements',
  customers: 'typeCustomers',
  departments: 'typeDepartments',
  inventory_adjustments: 'typeInventoryAdjustments',
  loyalty_tiers: 'typeLoyaltyTiers',
  permissions: 'typePermissions',
  product_barcodes: 'typeProductBarcodes',
  product_specials: 'typeProductSpecials',
  product_suppliers: 'typeProductSuppliers',
  products: 'typeProducts',
  purchase_order_items: 'typePurchaseOrderItems',
  purchase_orders: 'typePurchaseOrders',
  reasons: 'typeReasons',
  register_sessions: 'typeRegisterSessions',
  registers: 'typeRegisters',
  role_permissions: 'typeRolePermissions',
  roles: 'typeRoles',
  sales: 'typeSales',
  sales_reps: 'typeSalesReps',
  store_product_dynamic: 'typeStoreProductDynamic',
  stores: 'typeStores',
  suppliers: 'typeSuppliers',
  tax_group_rates: 'typeTaxGroupRates',
  tax_groups: 'typeTaxGroups',
  tax_rates: 'typeTaxRates',
  tenders: 'typeTenders',
  transfers: 'typeTransfers',
  unknown: 'typeUnknown',
  user_store_roles: 'typeUserStoreRoles',
  users: 'typeUsers',
}

function nameOf(type: string, many: number): string {
  return Object.hasOwn(NAMES, type) ? t(NAMES[type]!, {}, many) : words(type)
}

/** One row of a type, `Drawer` of `register_sessions`; a type of a later release by its own words. */
export const typeName = (type: string): string => nameOf(type, 1)

/** Several rows of a type, `Drawers` of `register_sessions`. */
export const typeNames = (type: string): string => nameOf(type, 2)
