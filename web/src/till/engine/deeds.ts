import type { SaleWithRefunds } from '../contract'
import { amountWords } from './approvals'
import type { SentCart } from './cart'
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

/** `once` is never kept: nothing is lost with the page. */
type DeedKind = 'refund' | 'movement' | 'no_sale' | 'park' | 'once'
/** So many are remembered beside those that wait. */
const MOST_OPEN = 50

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
  idOf(kind: DeedKind, path: string, content: object): string
  /** What had no answer when the page ended: asked for, or sent again as it was. */
  restore(): Promise<void>
  /** Another window may have kept something: it is read anew. */
  readAnew(): void
  /** Has the same id for the same content until it is answered: papers, customers. */
  once<T>(path: string, content: object, act: (id: string) => Promise<T>): Promise<T>
}

/** Whether it may have been done all the same. */
const isUnsure = (error: unknown): boolean => {
  const refusal = refusalOf(error)
  return isServerAway(error) || refusal?.mayHaveHappened === true || refusal?.status === 408 || refusal?.status === 401
}

/** `wasParked`: the store has this cart. */
export function makeDeeds(core: Core, wasParked: (cart: SentCart) => void): DeedPart {
  /** Those without an answer, and those that have an id and were not sent yet. */
  const open = new Map<string, Deed>()
  const flying = new Set<Deed>()
  let isRead = false
  let restoring: Promise<void> | null = null

  function deedOf(kind: DeedKind, path: string, content: object): Deed {
    const same = JSON.stringify([kind, path, content])
    const known = [...open.values()].find((deed) => deed.same === same)
    if (known) return known
    for (const deed of open.values()) {
      if (open.size < MOST_OPEN) break
      if (!deed.waits && !flying.has(deed)) open.delete(deed.key)
    }
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
    await core.kept.write('pending', [], [deed.key]).catch(() => undefined)
  }

  async function post<T>(deed: Deed, tokens: string[]): Promise<T> {
    const body = tokens.length > 0 ? { ...deed.body, approvals: tokens } : deed.body
    // Whoever was asked first: training that begins meanwhile answers nothing of it.
    const asker = core.asker()
    let isDoubted = deed.waits === true
    deed.waits = false
    for (let tries = 1; ; tries += 1) {
      try {
        const made = await asker.ask<T>('POST', deed.path, { body })
        await forget(deed)
        return made
      } catch (error) {
        const refusal = refusalOf(error)
        if (!isUnsure(error)) {
          // "Not now" says nothing of a request before this one.
          if (refusal?.mayBeRetried && isDoubted) {
            deed.waits = true
            throw unsure(error)
          }
          // What waits for an approval or for the store keeps its id, and is not done by itself later.
          if (refusal?.more.approvable === true || refusal?.mayBeRetried) await unkeep(deed)
          else await forget(deed)
          throw error
        }
        isDoubted = true
        if (tries >= TRIES || refusal?.status === 401) {
          deed.waits = true
          throw refusal?.status === 401 ? error : unsure(error)
        }
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
        if (!deed.waits) return
        core.state.trouble = trouble('deed_made', { what: t('deedRefund', { receipt: found.receiptNumber }) })
      } else if (deed.kind === 'park') {
        // The cart may have gone on since: it is not put aside by itself, and taken off only when it was.
        await core.line.ask('GET', `/pos/parked-carts/${deed.id}`)
        if (!deed.waits) return
        wasParked(deed.body.cart as SentCart)
      } else {
        await core.line.ask('POST', deed.path, { body: deed.body })
        if (!deed.waits) return
        core.state.trouble = trouble('deed_made', { what })
      }
      await forget(deed)
    } catch (error) {
      const refusal = refusalOf(error)
      // Somebody has sent it once more meanwhile, and hears what became of it.
      if (!deed.waits || !refusal || isUnsure(error) || refusal.mayBeRetried) return
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
    idOf: (kind, path, content) => deedOf(kind, path, content).id,

    async once(path, content, act) {
      const deed = deedOf('once', path, content)
      flying.add(deed)
      try {
        const made = await act(deed.id)
        open.delete(deed.key)
        return made
      } catch (error) {
        if (!isUnsure(error)) open.delete(deed.key)
        throw error
      } finally {
        flying.delete(deed)
      }
    },

    async send(kind, path, content, tokens = []) {
      const deed = deedOf(kind, path, content)
      flying.add(deed)
      try {
        // What cannot be kept is not sent: after a restart nobody would know that it was.
        if (!core.state.training) await core.kept.write('pending', [[deed.key, { ...deed }]])
        return await post(deed, tokens)
      } finally {
        flying.delete(deed)
      }
    },

    readAnew: () => (isRead = false),

    restore: () =>
      (restoring ??= restoreAll().finally(() => {
        restoring = null
      })),
  }

  async function restoreAll(): Promise<void> {
    if (core.state.training || core.state.secondWindow) return
    if (!isRead) {
      const all = await core.kept.all<Partial<Deed>>('pending')
      for (const kept of all) {
        if (typeof kept.key !== 'string' || !kept.key.startsWith(PREFIX) || open.has(kept.key)) continue
        const deed = kept as Deed
        open.set(deed.key, { ...deed, waits: true })
      }
      isRead = true
    }
    for (const deed of [...open.values()]) if (deed.waits) await restored(deed)
  }
}
