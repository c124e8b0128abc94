import { dateTime } from '@/format/dates'

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

/** Said of a user without a role, wherever that is seen. */
export const NO_ROLE =
  'Without a role a user can choose a PIN and nothing else: no till lets them sell, and no page opens for them.'

/** Said of a user who did not change the PIN that was made for them in time. */
export const RUN_OUT =
  'The PIN that was made for them was not changed in time and is good for nothing any more. Make a new one and hand it over.'

/** Said of a user after their PIN was taken away. */
export const NO_PIN =
  'They have no PIN: another person knew it, so it was taken away. They do not sign in before a new one is made and handed over.'

/** What an owner of a PIN that was made for them does, and where. */
export const FIRST_STEP =
  'Its owner first chooses a PIN of their own: in the browser at headquarters, or at a till of their store while the store is connected to headquarters. With that one they sign in at the till.'

/** What a user with such a PIN does first, as it is handed over to them: to be copied or printed. */
export function firstDay(newcomer: Newcomer, address: string, nameOf: (storeId: string) => string): string {
  const { displayName, username, pin, roles, isBack, firstPinExpiresAt } = newcomer
  const stores = roles.flatMap(({ storeId }) => (storeId ? [nameOf(storeId)] : []))
  const isEverywhere = stores.length < roles.length
  const till = `a till of ${isEverywhere ? 'any store' : [...new Set(stores)].join(' or ')}`
  const hasRole = roles.length > 0
  return [
    isBack ? `A new PIN for ${displayName}` : `Welcome, ${displayName}`,
    '',
    `User name: ${username}`,
    `PIN: ${pin}`,
    ...(firstPinExpiresAt ? [`Good until: ${dateTime(firstPinExpiresAt)}`] : []),
    '',
    '1. Choose a PIN of your own; nothing else works before.',
    `   In the browser: open ${address}, sign in with the user name and the PIN above, and type a new one.`,
    ...(hasRole
      ? [`   Or at ${till}, while the store is connected to headquarters: sign in with the PIN above and change it.`]
      : []),
    hasRole
      ? `2. Sign in at ${till} with your new PIN.`
      : '2. Ask for a role: without one no till lets you sell, and no page opens.',
    ...(hasRole ? ['', 'Your work:'] : []),
    ...roles.map(({ roleName, storeId }) => `- ${roleName}, ${storeId ? nameOf(storeId) : 'all stores'}`),
    '',
    'Show your PIN to no one: whoever knows it can sell in your name.',
  ].join('\n')
}
