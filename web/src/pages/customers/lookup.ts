import { api, data, page, type Schemas } from '@/api/client'
import type { Lookup } from '@/composables/fields'
import { nameOf } from './names'
import { t } from './texts'

const MOST = 12

const labelOf = (customer: Schemas['Customer']) => `${nameOf(customer)} (${customer.customerNumber})`

export const CUSTOMERS: Lookup = {
  get what() {
    return t('one')
  },
  find: async (search) => {
    const query = { search: search || undefined, pageSize: MOST, sort: 'lastName', active: true }
    const { rows } = await page(api.GET('/api/v1/customers', { params: { query } }))
    return rows.map((customer) => ({ value: customer.id, label: labelOf(customer) }))
  },
  nameOf: async (id) => labelOf(await data(api.GET('/api/v1/customers/{id}', { params: { path: { id } } }))),
}
