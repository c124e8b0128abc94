import type { SaleWithRefunds } from '../contract'
import { amountWords } from './approvals'
import { pause, type Core } from './core'
import { newId } from './ids'
import { plain } from './kept'
import { t } from './texts'
import { fail, isCode, isServerAway, refusalOf, trouble } from './troubles'

/**
 * Requests that make a document of their own: money back, cash in and out, a drawer that is opened. Each has an id that is kept
 * before it is sent and until it is answered, so that the same deed sent again is the same document.
 */

const PREFIX = 'deed:'
const TRIES = 3
const AGAIN_MS = 1000

export type DeedKind = 'refund' | 'movement' | 'no_sale' | 'park'

interface Deed {
  key: string
  kind: DeedKind
  id: string
  path: string
  body: Record<string, unknown>
  /** What it is, without its id: the same deed once more is this one. */
  same: string
  /** Nobody knows what became of it. */
  waits?: boolean
}

export interface DeedPart {
  /** Sends it until it is answered, a few times; `tokens` are approvals of exactly this one. */
  send<T>(kind: DeedKind, path: string, content: Record<string, unknown>, tokens?: string[]): Promise<T>
  /** The id that a deed has or is going to have. */
  idOf(kind: DeedKind, path: string, content: Record<string, unknown>): Promise<string>
  /** What had no answer when the page ended: asked for, or sent again as it was. */
  restore(): Promise<void>
}

/** Whether it may have been done all the same. */
const isUnsure = (error: unknown): boolean => {
  const refusal = refusalOf(error)
  return isServerAway(error) || refusal?.mayHaveHappened === true || refusal?.status === 408 || refusal?.status === 401
}

/** `wasParked`: the store has this cart. */
export function makeDeeds(core: Core, wasParked: (cart: unknown) => void): DeedPart {
  /** Those without an answer. Few: each ends with its answer. */
  const open = new Map<string, Deed>()

  async function deedOf(kind: DeedKind, path: string, content: Record<string, unknown>): Promise<Deed> {
    const same = JSON.stringify([kind, path, content])
    const known = [...open.values()].find((deed) => deed.same === same)
    if (known) return known
    const id = newId()
    const deed: Deed = { key: PREFIX + id, kind, id, path, body: { ...plain(content), id }, same }
    open.set(deed.key, deed)
    return deed
  }

  async function forget(deed: Deed): Promise<void> {
    open.delete(deed.key)
    await unkeep(deed)
  }

  async function unkeep(deed: Deed): Promise<void> {
    if (!core.state.training) await core.kept.write('pending', [], [deed.key]).catch(() => undefined)
  }

  async function post<T>(deed: Deed, tokens: string[]): Promise<T> {
    const body = tokens.length > 0 ? { ...deed.body, approvals: tokens } : deed.body
    for (let tries = 1; ; tries += 1) {
      try {
        const made = await core.asker().ask<T>('POST', deed.path, { body })
        await forget(deed)
        return made
      } catch (error) {
        const refusal = refusalOf(error)
        if (!isUnsure(error)) {
          // What waits for an approval keeps its id, which the approval is of.
          if (refusal?.more.approvable === true) await unkeep(deed)
          else if (!refusal?.mayBeRetried) await forget(deed)
          throw error
        }
        deed.waits = true
        if (tries >= TRIES || refusal?.status === 401) throw refusal?.status === 401 ? error : unsure(error)
        await pause(core, AGAIN_MS)
      }
    }
  }

  const unsure = (error: unknown) => fail('not_sure', {}, null, refusalOf(error) ?? error)

  async function restored(deed: Deed): Promise<void> {
    const what = whatOf(deed)
    try {
      if (deed.kind === 'refund') {
        // Nobody hands out money for what nobody waits for: it is asked for, and not made by itself.
        const found = await core.line.ask<SaleWithRefunds>('GET', `/pos/sales/${deed.id}`)
        core.state.trouble = trouble('deed_made', { what: t('deedRefund', { receipt: found.receiptNumber }) })
      } else if (deed.kind === 'park') {
        // The cart may have gone on since: it is not put aside by itself, and taken off only when it was.
        await core.line.ask('GET', `/pos/parked-carts/${deed.id}`)
        wasParked(deed.body.cart)
      } else {
        await core.line.ask('POST', deed.path, { body: deed.body })
        core.state.trouble = trouble('deed_made', { what })
      }
      await forget(deed)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal || isUnsure(error) || refusal.mayBeRetried) return
      if (deed.kind === 'refund' && !isCode(refusal, 'sale_not_found', 'not_found')) return
      await forget(deed)
      if (deed.kind !== 'park') core.state.trouble = trouble('deed_not_made', { what })
    }
  }

  function whatOf({ kind, body }: Deed): string {
    const { place } = core.state
    if (kind === 'refund') return t('deedRefundOpen')
    if (kind === 'no_sale') return t('deedNoSale')
    if (kind !== 'movement' || !place) return t('deedOther')
    return t('deedMovement', { amount: amountWords(place)(Number(body.amount)) })
  }

  return {
    idOf: async (kind, path, content) => (await deedOf(kind, path, content)).id,

    async send(kind, path, content, tokens = []) {
      const deed = await deedOf(kind, path, content)
      // What cannot be kept is not sent: after a restart nobody would know that it was.
      if (!core.state.training) await core.kept.write('pending', [[deed.key, { ...deed }]])
      deed.waits = false
      return post(deed, tokens)
    },

    async restore() {
      const all = await core.kept.all<Partial<Deed>>('pending')
      for (const kept of all) {
        if (typeof kept.key !== 'string' || !kept.key.startsWith(PREFIX) || open.has(kept.key)) continue
        const deed = kept as Deed
        open.set(deed.key, { ...deed, waits: true })
      }
      for (const deed of [...open.values()]) if (deed.waits) await restored(deed)
    },
  }
}
