import { useQuery } from '@tanstack/vue-query'
import { computed } from 'vue'
import { all, api, page } from '@/api/client'
import { useSession } from '@/session/store'

/** The roles that can be given to a user, for a select; none for whoever gives no roles. */
export function useRoleOptions() {
  const session = useSession()
  const load = useQuery({
    queryKey: ['roles', 'choices'],
    queryFn: async () => {
      if (!session.hasPermission('users.manage_roles')) return []
      return all((number) =>
        page(api.GET('/api/v1/roles', { params: { query: { page: number, pageSize: 200, sort: 'name' } } })),
      )
    },
  })
  const options = computed(() => (load.data.value ?? []).map((role) => ({ value: role.id, label: role.name })))
  return { load, options }
}
