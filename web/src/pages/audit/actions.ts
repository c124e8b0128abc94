import { words } from '@/format/labels'
import { typeName } from '@/format/types'
import { t } from './texts'

type Text = Parameters<typeof t>[0]

/** What was done, by the name that the log keeps. */
const ACTIONS: Readonly<Record<string, Text>> = {
  login: 'didLogin',
  pin_login: 'didPinLogin',
  'login.for_store': 'didLoginForStore',
  'login.refused': 'didLoginRefused',
  'login.blocked': 'didLoginBlocked',
  'login.unlock': 'didLoginUnlock',
  logout: 'didLogout',
  refused: 'didRefused',
  'refresh.reused': 'didRefreshReused',
  'session.confirm': 'didSessionConfirm',
  'session.end': 'didSessionEnd',
  'factor.add': 'didFactorAdd',
  'factor.asked': 'didFactorAsked',
  'factor.begin': 'didFactorBegin',
  'factor.codes': 'didFactorCodes',
  'factor.distrust': 'didFactorDistrust',
  'factor.remove': 'didFactorRemove',
  'factor.reset': 'didFactorReset',
  'factor.used': 'didFactorUsed',
  'pin.change': 'didPinChange',
  'pin.refused': 'didPinRefused',
  'pin.taken': 'didPinTaken',
  'pin.shared': 'didPinShared',
  'pin.expired': 'didPinExpired',
  'user.create': 'didUserCreate',
  'user.make_admin': 'didUserMakeAdmin',
  'user.pin': 'didUserPin',
  'user.role.grant': 'didUserRoleGrant',
  'user.role.revoke': 'didUserRoleRevoke',
  'user.sessions.end': 'didUserSessionsEnd',
  'role.permissions': 'didRolePermissions',
  'alert_hook.rotate_secret': 'didAlertHookRotateSecret',
  'alert_hook.test': 'didAlertHookTest',
  'chain.edit': 'didChainEdit',
  'sales.export': 'didSalesExport',
  'drawers.export': 'didDrawersExport',
  'accounting.edit': 'didAccountingEdit',
  'journal.export': 'didJournalExport',
  'store.activate': 'didStoreActivate',
  'store.allow_pin_key': 'didStoreAllowPinKey',
  'store.deactivate': 'didStoreDeactivate',
  'store.provision': 'didStoreProvision',
  'store.revoke_token': 'didStoreRevokeToken',
  'store.token_asked_again': 'didStoreTokenAskedAgain',
  'store.token_given': 'didStoreTokenGiven',
  'store_price.set': 'didStorePriceSet',
  'tax_group.rates': 'didTaxGroupRates',
  'sync.change': 'didSyncChange',
  'sync.retry': 'didSyncRetry',
  'sync.resolve': 'didSyncResolve',
  'sync.renumber': 'didSyncRenumber',
  'refund_claim.drop': 'didRefundClaimDrop',
  'database.put_back': 'didDatabasePutBack',
  'demo.seed': 'didDemoSeed',
  'series.set': 'didSeriesSet',
}

/** What is done to rows of any type: alone, and of a type. */
const OF_ROWS: Readonly<Record<string, { alone: Text; of: Text }>> = {
  create: { alone: 'rowCreated', of: 'typeCreated' },
  edit: { alone: 'rowEdited', of: 'typeEdited' },
  delete: { alone: 'rowDeleted', of: 'typeDeleted' },
  restore: { alone: 'rowRestored', of: 'typeRestored' },
}

/** `Product changed` of `edit` and `products`; an action of a later release by its own words. */
export function actionName(action: string, entityType?: string | null): string {
  const done = OF_ROWS[action]
  if (done) return entityType ? t(done.of, { type: typeName(entityType) }) : t(done.alone)
  const name = ACTIONS[action]
  return name ? t(name) : words(action)
}

/** What can be chosen, in the order of the words. */
export const actionChoices = () =>
  [...Object.keys(OF_ROWS), ...Object.keys(ACTIONS)]
    .map((value) => ({ value, label: actionName(value) }))
    .sort((one, other) => one.label.localeCompare(other.label))
