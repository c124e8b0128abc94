import type { Schemas } from '@/api/client'
import { dateTime } from '@/format/dates'
import { either } from '@/format/lists'
import { t } from './texts'

/** A user with a PIN that headquarters made for them. */
export interface Newcomer {
  displayName: string
  username: string
  pin: string
  /** When the PIN is over unless it was changed. */
  firstPinExpiresAt?: string | null
  /** Their roles, each with the store where it counts; without one it counts in all. */
  roles: readonly { roleName: string; storeId?: string | null }[]
  /** Whether they had another PIN before. */
  isBack: boolean
}

/** Where they sign in; with a warning where nobody on another machine gets anywhere with it. */
export type SignInAt = Pick<Schemas['HeadquartersAddress'], 'url' | 'warning'>

/** What a user with such a PIN does first, as it is handed over to them: to be copied or printed. */
export function firstDay(newcomer: Newcomer, at: SignInAt, nameOf: (storeId: string) => string): string {
  const { displayName: name, username, pin, roles, isBack, firstPinExpiresAt } = newcomer
  const address = `${at.url}/`
  return [
    isBack ? t('sheetAgain', { name }) : t('sheetWelcome', { name }),
    '',
    t('sheetUsername', { username }),
    t('sheetPin', { pin }),
    ...(firstPinExpiresAt ? [t('sheetUntil', { when: dateTime(firstPinExpiresAt) })] : []),
    '',
    t('sheetChoose'),
    at.warning ? t('sheetBrowserLocal', { address }) : t('sheetBrowser', { address }),
    ...(roles.length > 0 ? work(roles, nameOf) : [t('sheetAskRole')]),
    '',
    t('sheetSecret'),
  ].join('\n')
}

/** The tills where roles count, and the roles. */
function work(roles: Newcomer['roles'], nameOf: (storeId: string) => string): string[] {
  const named = roles.flatMap(({ storeId }) => (storeId ? [nameOf(storeId)] : []))
  const isEverywhere = named.length < roles.length
  const stores = either([...new Set(named)])
  return [
    ...(isEverywhere
      ? [t('sheetTillAny'), t('sheetSignInAny')]
      : [t('sheetTill', { stores }), t('sheetSignIn', { stores })]),
    '',
    t('sheetWork'),
    ...roles.map(({ roleName: role, storeId }) =>
      storeId ? t('sheetRole', { role, store: nameOf(storeId) }) : t('sheetRoleEverywhere', { role }),
    ),
  ]
}
