import { useQuery } from '@tanstack/vue-query'
import { computed } from 'vue'
import { useRouter, type Router } from 'vue-router'
import { api, data } from '@/api/client'
import { polled } from '@/api/queries'
import type { paths } from '@/api/schema'
import { words } from '@/format/labels'
import { visitor } from '@/router'
import { placeOf } from '@/router/places'
import { useSession } from '@/session/store'
import { MOST, type Attention } from './attention'
import { t } from './texts'

/** What headquarters says of how safe the chain is. */

type Answer = paths['/api/v1/security/notices']['get']['responses']['200']['content']['application/json']
export type Notice = Answer['data'][number]

const TITLES: Readonly<Record<string, () => string>> = {
  token_asked_again: () => t('tokenAskedAgain'),
  no_second_factor: () => t('noSecondFactor'),
  pin_ended: () => t('pinEnded'),
  first_pin_expired: () => t('firstPinExpired'),
  registers_without_till: () => t('registersWithoutTill'),
}

/** A kind of a later release by its own words. */
const titleOf = ({ kind }: Notice): string => (Object.hasOwn(TITLES, kind) ? TITLES[kind]!() : words(kind))

/** What there is to look after, as soon as headquarters says it; nothing for who sees no users. */
export function useNotices() {
  const session = useSession()
  const router = useRouter()
  const load = useQuery({
    queryKey: ['security-notices'],
    queryFn: async () => (session.hasPermission('users.view') ? data(api.GET('/api/v1/security/notices')) : []),
    ...polled(EVERY_MS),
  })
  return computed(() => (load.data.value ?? []).map((notice) => attentionOf(notice, router)))
}
const EVERY_MS = 60_000

function attentionOf(notice: Notice, router: Router): Attention {
  const { named, more } = aboutOf(notice)
  const links = named.map(({ type, id, name }) => ({ id, name, to: placeOf(router, visitor(), type, id) }))
  return { kind: notice.kind, tone: 'warn', title: titleOf(notice), text: notice.text, links, more, at: notice.at }
}

interface Named {
  type: 'users' | 'stores'
  id: string
  name: string
}

/** Who and what it is about: the first ones, and how many more there are. */
function aboutOf({ users, stores, count }: Notice): { named: Named[]; more: number } {
  const all: Named[] = [
    ...users.map(({ id, displayName }) => ({ type: 'users' as const, id, name: displayName })),
    ...stores.map(({ id, code }) => ({ type: 'stores' as const, id, name: code })),
  ]
  const named = all.slice(0, MOST)
  return { named, more: Math.max(count ?? 0, all.length) - named.length }
}
