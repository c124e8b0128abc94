import { words } from '@/format/labels'
import { typeName } from '@/format/types'

/** What was done, in words for people, by the name that the log keeps. */
const ACTIONS: Readonly<Record<string, string>> = {
  login: 'Signed in',
  pin_login: 'Signed in with a PIN alone',
  'login.for_store': 'Sign-in at a store judged here',
  'login.refused': 'Sign-in refused',
  'login.blocked': 'Sign-in locked after wrong PINs',
  'login.unlock': 'Sign-in unlocked',
  logout: 'Signed out',
  refused: 'Request refused',
  'refresh.reused': 'Old session token used again',
  'session.confirm': 'Confirmed in a session',
  'session.end': 'Session ended',
  'factor.add': 'Second factor set up',
  'factor.asked': 'Second factor asked for',
  'factor.begin': 'Set-up of a second factor begun',
  'factor.codes': 'New recovery codes',
  'factor.distrust': 'Recovery codes ended after a restore',
  'factor.remove': 'Second factor removed',
  'factor.reset': 'Second factor of a user removed',
  'factor.used': 'Second factor shown',
  'pin.change': 'PIN changed',
  'pin.refused': 'New PIN refused',
  'pin.taken': 'New PIN was taken',
  'pin.shared': 'Two people with one PIN came together',
  'pin.expired': 'First PIN ended',
  'user.create': 'User created',
  'user.make_admin': 'User made an administrator',
  'user.pin': 'New PIN for a user',
  'user.role.grant': 'Role given',
  'user.role.revoke': 'Role removed',
  'user.sessions.end': 'All sessions of a user ended',
  'role.permissions': 'Permissions of a role changed',
  'store.activate': 'Store activated',
  'store.allow_pin_key': 'Key of PINs allowed to a store',
  'store.deactivate': 'Store deactivated',
  'store.provision': 'Store provisioned',
  'store.revoke_token': 'Token of a store revoked',
  'store_price.set': 'Price in a store changed',
  'tax_group.rates': 'Rates of a tax group changed',
  'sync.change': 'Changed at a store',
  'sync.retry': 'Failed entry retried',
  'sync.resolve': 'Failed entry resolved',
  'sync.renumber': 'Failed entry renumbered',
  'database.put_back': 'Database restored',
  'demo.seed': 'Demo chain created',
  'series.set': 'Number series set',
}

/** What is done to rows of any type. */
const OF_ROWS: Readonly<Record<string, string>> = {
  create: 'created',
  edit: 'changed',
  delete: 'deleted',
  restore: 'restored',
}

/** `Product changed` of `edit` and `products`; an action of a later release by its own words. */
export function actionName(action: string, entityType?: string | null): string {
  const done = OF_ROWS[action]
  if (done) return entityType ? `${typeName(entityType)} ${done}` : words(done)
  return ACTIONS[action] ?? words(action)
}

/** What can be chosen, in the order of the words. */
export const ACTION_CHOICES = [...Object.keys(OF_ROWS), ...Object.keys(ACTIONS)]
  .map((value) => ({ value, label: actionName(value) }))
  .sort((one, other) => one.label.localeCompare(other.label))
