import type { paths } from '@/api/schema'
import { words } from '@/format/labels'

/** What headquarters says of how safe the chain is. */

type Answer = paths['/api/v1/security/notices']['get']['responses']['200']['content']['application/json']
export type Notice = Answer['data'][number]

const TITLES: Readonly<Record<string, string>> = {
  no_second_factor: 'No second factor',
  pin_ended: 'A PIN was guessed by another person',
  first_pin_expired: 'First PINs that ran out',
  registers_without_till: 'Tills that are not enrolled',
}

/** A kind of a later release by its own words. */
export const titleOf = ({ kind }: Notice): string => (Object.hasOwn(TITLES, kind) ? TITLES[kind]! : words(kind))

/** As many names as stand in one notice. */
const MOST = 8

interface Named {
  type: 'users' | 'stores'
  id: string
  name: string
}

/** Who and what it is about: the first ones, and how many more there are. */
export function aboutOf({ users, stores, count }: Notice): { named: Named[]; more: number } {
  const all: Named[] = [
    ...users.map(({ id, displayName }) => ({ type: 'users' as const, id, name: displayName })),
    ...stores.map(({ id, code }) => ({ type: 'stores' as const, id, name: code })),
  ]
  const named = all.slice(0, MOST)
  return { named, more: Math.max(count ?? 0, all.length) - named.length }
}
