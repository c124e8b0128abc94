import { computed } from 'vue'
import { useStores } from '@/composables/useStores'
import { useSession } from '@/session/store'
import { t } from './texts'

const CODE = 'users.manage_roles'

/** The choice that stands for all stores, so that choosing nothing is something else. */
const EVERYWHERE = 'everywhere'

/** What is sent for a chosen place. */
export const storeOf = (place: string | null | undefined): string | null | undefined =>
  place === EVERYWHERE ? null : place

/** Where the signed-in person may give roles away. */
export function useGrantPlaces() {
  const session = useSession()
  const stores = useStores()
  /** In one store, or in all for null. */
  const mayGiveIn = (storeId: string | null | undefined) => session.hasPermission(CODE, storeId ?? 'everywhere')
  const isEverywhere = computed(() => mayGiveIn(null))
  const options = computed(() => [
    ...(isEverywhere.value ? [{ value: EVERYWHERE, label: t('allStores') }] : []),
    ...stores.options.filter(({ value }) => mayGiveIn(value)),
  ])
  return { mayGiveIn, isEverywhere, options }
}
