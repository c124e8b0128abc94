import { words } from './labels'

/** Kinds of rows, as people call one of them and several. */
const NAMES: Readonly<Record<string, readonly [one: string, many: string]>> = {
  account_charges: ['Charge to an account', 'Charges to accounts'],
  audit_log: ['Audit entry', 'Audit entries'],
  cash_movements: ['Cash movement', 'Cash movements'],
  customers: ['Customer', 'Customers'],
  departments: ['Department', 'Departments'],
  inventory_adjustments: ['Stock change', 'Stock changes'],
  loyalty_tiers: ['Loyalty tier', 'Loyalty tiers'],
  permissions: ['Permission', 'Permissions'],
  product_barcodes: ['Barcode', 'Barcodes'],
  product_specials: ['Special', 'Specials'],
  product_suppliers: ['Supplier of a product', 'Suppliers of products'],
  products: ['Product', 'Products'],
  purchase_order_items: ['Line of an order', 'Lines of orders'],
  purchase_orders: ['Purchase order', 'Purchase orders'],
  reasons: ['Reason', 'Reasons'],
  register_sessions: ['Drawer', 'Drawers'],
  registers: ['Register', 'Registers'],
  role_permissions: ['Permission of a role', 'Permissions of roles'],
  roles: ['Role', 'Roles'],
  sales: ['Sale', 'Sales'],
  sales_reps: ['Sales representative', 'Sales representatives'],
  store_product_dynamic: ['Price in a store', 'Prices in the store'],
  stores: ['Store', 'Stores'],
  suppliers: ['Supplier', 'Suppliers'],
  tax_group_rates: ['Rate of a tax group', 'Rates of tax groups'],
  tax_groups: ['Tax group', 'Tax groups'],
  tax_rates: ['Tax rate', 'Tax rates'],
  tenders: ['Tender', 'Tenders'],
  transfers: ['Transfer', 'Transfers'],
  unknown: ['Entry of an unknown type', 'Entries of unknown types'],
  user_store_roles: ['Role of a person', 'Roles of people'],
  users: ['User', 'Users'],
}

const nameOf = (type: string) => (Object.hasOwn(NAMES, type) ? NAMES[type] : undefined)

/** One row of a type, `Drawer` of `register_sessions`; a type of a later release by its own words. */
export function typeName(type: string): string {
  return nameOf(type)?.[0] ?? words(type)
}

/** Several rows of a type, `Drawers` of `register_sessions`. */
export function typeNames(type: string): string {
  return nameOf(type)?.[1] ?? words(type)
}
