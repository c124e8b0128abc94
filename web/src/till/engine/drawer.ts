import type { Drawer, Paper, PrintJob, TenderCount, Till, X, Z } from '../contract'
import type { Schemas } from '@/api/shop/client'
import type { ApiError } from '@/api/errors'
import { amountWords, isApprovable, requiredBy, type Asked, type Gate } from './approvals'
import { bootOf, placeOf, requireFree, sessionOf, type Core } from './core'
import type { DeedPart } from './deeds'
import { newId } from './ids'
import { t } from './texts'
import { isCode, isServerAway, refusalOf } from './troubles'

/** The drawer of this register: opened, cash in and out, counted, closed, and its papers. */

export type DrawerPart = Pick<
  Till,
  'openDrawer' | 'cashMovement' | 'noSale' | 'x' | 'count' | 'reopen' | 'close' | 'z' | 'printReport'
> & {
  /** Reads it anew. */
  refreshDrawer(): Promise<void>
}

const CLOSES = 'registers.close'

export function makeDrawer(core: Core, gate: Gate, deeds: DeedPart): DrawerPart {
  const { state } = core

  /** The same request until it is answered: the store does once what has the same key. */
  async function once<T>(path: string, body: unknown): Promise<T> {
    const key = newId()
    for (let tries = 1; ; tries += 1) {
      try {
        return await core.asker().ask<T>('POST', path, { body, key })
      } catch (error) {
        const isLost = isServerAway(error) || isCode(refusalOf(error), 'in_progress')
        if (!isLost || tries >= 3) throw error
      }
    }
  }

  const show = (drawer: Drawer | null) => {
    state.drawer = drawer?.status === 'closed' ? null : drawer
    core.wake()
  }

  async function refreshDrawer(): Promise<void> {
    try {
      const { terminalId } = placeOf(core)
      show(await core.asker().ask<Drawer>('GET', '/register-sessions/current', { query: { terminalId } }))
    } catch (error) {
      if (isCode(refusalOf(error), 'no_open_session')) show(null)
    }
  }

  const paper = async (path: string, query: Record<string, string | undefined>): Promise<Paper> => {
    const of = (format: string) => core.asker().ask<string>('GET', path, { query: { ...query, format }, parse: 'text' })
    const [html, text] = await Promise.all([of('html'), of('text')])
    return { html, text }
  }

  /** An approval of closing what is named, by whoever may close drawers. */
  const closing = (deed: string, context: Asked['context'], reasonKind: Asked['reasonKind']): Asked => ({
    permission: CLOSES,
    deed,
    context,
    reasonKind,
  })

  /** What a refused close needs. Without any approval the store only says who may. */
  function toClose(refusal: ApiError): Asked | null {
    const sessionId = sessionOf(core)
    const isForbidden = isCode(refusal, 'forbidden') && requiredBy(refusal).includes(CLOSES)
    if (!isForbidden && !isApprovable(refusal)) return null
    const { cashVariance, variances } = refusal.more
    const cash = typeof cashVariance === 'number' ? cashVariance : null
    const others = Array.isArray(variances) ? (variances as Schemas['ApprovedVariance'][]) : []
    const differs = cash ?? others.reduce((sum, { variance }) => sum + variance, 0)
    const deed =
      differs === 0 ? t('deedClose') : t('deedCloseVariance', { amount: amountWords(placeOf(core))(differs) })
    const context = {
      sessionId,
      ...(cash !== null && { cashVariance: cash }),
      ...(others.length > 0 && { variances: others }),
    }
    return closing(deed, context, null)
  }

  return {
    refreshDrawer,

    async openDrawer(draft) {
      requireFree(core)
      const { registerId } = placeOf(core)
      const boot = bootOf(core)
      const openingFloat = draft.openingFloat ?? boot.register.defaultFloat ?? boot.store.defaultFloat
      const deed = t('deedFloat', { amount: amountWords(placeOf(core))(openingFloat) })
      try {
        const opened = await gate.allowed(
          (approvals) => once<Drawer>(`/registers/${registerId}/open`, { ...draft, approvals }),
          (refusal) =>
            isApprovable(refusal)
              ? {
                  permission: requiredBy(refusal)[0] ?? 'registers.open',
                  deed,
                  context: { registerId, openingFloat },
                  reasonKind: null,
                }
              : null,
        )
        show(opened)
      } catch (error) {
        // Somebody else has opened it, or the answer was lost.
        if (isCode(refusalOf(error), 'session_already_open')) await refreshDrawer()
        throw error
      }
      await core.refresh()
    },

    async cashMovement(draft) {
      requireFree(core)
      const path = `/register-sessions/${sessionOf(core)}/cash-movements`
      const content = { ...draft }
      const id = deeds.idOf('movement', path, content)
      const named = { amount: amountWords(placeOf(core))(draft.amount), reason: draft.reason ?? draft.reasonCode ?? '' }
      const deed = t(draft.type === 'drop' ? 'deedDrop' : 'deedPaidOut', named)
      const movement = { id, kind: draft.type, amount: draft.amount }
      await gate.allowed(
        (tokens) => deeds.send('movement', path, content, tokens),
        (refusal) =>
          isApprovable(refusal)
            ? closing(deed, { sessionId: sessionOf(core), movement }, draft.type === 'drop' ? 'drop' : 'paid_out')
            : null,
      )
      void refreshDrawer()
    },

    async noSale(reason) {
      requireFree(core)
      const path = `/registers/${placeOf(core).registerId}/no-sale`
      const content = { ...reason }
      const id = deeds.idOf('no_sale', path, content)
      const deed = t('deedOpenDrawer', { reason: reason.reason ?? reason.reasonCode ?? '' })
      const movement = { id, kind: 'no_sale', amount: 0 }
      await gate.allowed(
        (tokens) => deeds.send('no_sale', path, content, tokens),
        (refusal) =>
          isApprovable(refusal) ? closing(deed, { sessionId: sessionOf(core), movement }, 'no_sale') : null,
      )
    },

    async x() {
      const query = { sessionId: sessionOf(core) }
      const report = core.asker().ask<X>('GET', '/reports/x', { query })
      const [read, shown] = await Promise.all([report, paper('/reports/x', query)])
      return { report: read, paper: shown }
    },

    async count(counts: TenderCount[]) {
      requireFree(core)
      show(await once<Drawer>(`/register-sessions/${sessionOf(core)}/count`, { counts }))
    },

    async reopen() {
      requireFree(core)
      show(await once<Drawer>(`/register-sessions/${sessionOf(core)}/count`, { reopen: true }))
    },

    async close(draft) {
      requireFree(core)
      const path = `/register-sessions/${sessionOf(core)}/close`
      try {
        // An approval is used up by a refusal too: only the newest counts.
        const closed = await gate.allowed(
          (approvals) => once<Drawer>(path, { ...draft, approvals: approvals.slice(-1) }),
          toClose,
        )
        show(closed)
        return closed
      } catch (error) {
        if (isCode(refusalOf(error), 'session_closed')) await refreshDrawer()
        throw error
      }
    },

    async z(sessionId) {
      const path = `/reports/z/${sessionId}`
      const [report, shown] = await Promise.all([core.asker().ask<Z>('GET', path), paper(path, {})])
      return { report, paper: shown }
    },

    async printReport(report, sessionId) {
      const of = sessionId ?? state.drawer?.id
      const content = { report, terminalId: placeOf(core).terminalId, sessionId: of }
      return deeds.once('/pos/prints', content, (id) =>
        onPrinter(core, '/pos/prints', { id, ...content } satisfies Schemas['ReportPrint']),
      )
    },
  }
}

/** A paper of the printer of this register; null where there is none. */
export async function onPrinter(core: Core, path: string, body: unknown): Promise<PrintJob | null> {
  try {
    return await core.asker().ask<PrintJob>('POST', path, { body })
  } catch (error) {
    if (isCode(refusalOf(error), 'printer_unknown')) return null
    throw error
  }
}
