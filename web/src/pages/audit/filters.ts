/** What the log can be narrowed down by. Their keys are those of the list, and stand in the address. */

export interface Filter {
  key: 'action' | 'entityType' | 'entityId' | 'from' | 'to'
  label: string
  type: 'text' | 'date'
  /** What may be typed, as far as it is known beforehand. */
  hints?: readonly string[]
}

export const FILTERS: readonly Filter[] = [
  { key: 'from', label: 'From day', type: 'date' },
  { key: 'to', label: 'To day', type: 'date' },
  {
    key: 'action',
    label: 'Deed, exactly',
    type: 'text',
    hints: [
      ...['create', 'edit', 'delete', 'restore', 'login', 'login.refused', 'login.blocked', 'login.unlock', 'logout'],
      ...['session.end', 'refresh.reused', 'pin.change', 'pin.refused', 'user.create', 'user.pin', 'user.role.grant'],
      ...['user.role.revoke', 'role.permissions', 'store.provision', 'sync.retry', 'sync.resolve', 'database.put_back'],
    ],
  },
  {
    key: 'entityType',
    label: 'Kind of thing',
    type: 'text',
    hints: ['users', 'roles', 'stores', 'products', 'departments', 'tax_groups', 'tax_rates', 'tenders', 'customers'],
  },
  { key: 'entityId', label: 'Id of the thing', type: 'text' },
]

export const FILTER_KEYS = ['userId', ...FILTERS.map((filter) => filter.key)] as const

/** Kinds of things that have a page here. */
export const PAGE_OF: Record<string, string> = { users: 'user', roles: 'role', stores: 'store', products: 'product' }
