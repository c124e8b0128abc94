import { api, data, page, type Schemas } from '@/api/client'
import type { Lookup } from '@/composables/fields'
import { t } from '@/texts/forms'

const MOST = 12

const nameOf = ({ displayName, username }: Pick<Schemas['UserView'], 'displayName' | 'username'>) =>
  `${displayName} (${username})`

export const USERS: Lookup = {
  get what() {
    return t('aUser')
  },
  find: async (search) => {
    const query = { search: search || undefined, pageSize: MOST, sort: 'displayName' }
    const { rows } = await page(api.GET('/api/v1/users', { params: { query } }))
    return rows.map((user) => ({ value: user.id, label: nameOf(user) }))
  },
  nameOf: async (id) => nameOf(await data(api.GET('/api/v1/users/{id}', { params: { path: { id } } }))),
}
