import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { LineExtra, Product, Scanned, Till, Trouble } from '../contract'
import { useTill } from '../engine/use'
import { troubleOf } from '../parts/useDeed'
import { openPanel, panel } from './panels'
import { needsNothing, needsOf, type Needs } from './quantities'
import { say, saidNothing } from './said'
import { soundsOf } from './sound'
import { t } from './texts'

/** What has to be said before something that was scanned or chosen can be a line, or that nobody knows it. */
export type Question =
  | { kind: 'needs'; product: Product; needs: Needs; code?: string; quantity?: number }
  | { kind: 'unknown'; code: string; quantity?: number }

/**
 * From codes and chosen products to lines. Questions wait in their order and nothing dismisses them but an answer: what is
 * scanned meanwhile becomes the next line, and what asks as well waits behind. Nothing is paid while one waits.
 */
export interface Scanning {
  readonly questions: ShallowRef<readonly Question[]>
  /** Typed before the scan. */
  readonly quantity: Ref<number | null>
  /** Why the last code became nothing. */
  readonly trouble: ShallowRef<Trouble | null>
  /** The line that keys are about; the last one unless somebody chose. */
  readonly chosen: Ref<string | null>
  /** `other`: how the same keys read on another keyboard, for when nobody knows the first reading. */
  scan(code: string, other?: string): Promise<void>
  /** A product that was chosen on the screen. */
  add(product: Product): Promise<void>
  /** The first question is answered; throws where the answer is refused. */
  answer(extra: LineExtra): Promise<void>
  /** The first question is given up: no line. */
  skip(): void
}

export function makeScanning(till: Till): Scanning {
  const questions = shallowRef<readonly Question[]>([])
  const quantity = ref<number | null>(null)
  const trouble = shallowRef<Trouble | null>(null)
  const chosen = ref<string | null>(null)
  /** The sale before is put away; what comes meanwhile waits for it. */
  let beginning: Promise<void> | null = null

  const sound = soundsOf(till)
  const ask = (question: Question) => void (questions.value = [...questions.value, question])

  function refuse(text: string): void {
    sound('refused')
    say(text, 'warn')
  }

  /** What has the till for itself, in words; the code or product is then not taken, and the sound says so. */
  function isHeld(): boolean {
    if (till.state.approval) refuse(t('heldByApproval'))
    else if (till.state.pending) refuse(t('heldByPayment'))
    else if (panel.value === 'pay') refuse(t('heldByPay'))
    else return false
    return true
  }

  /** A sale that is still shown as taken ends with what is scanned next. */
  function begin(): Promise<void> | null {
    if (till.state.taken && !beginning) {
      beginning = till.next().finally(() => (beginning = null))
      if (panel.value === 'taken') openPanel('tiles')
    }
    return beginning
  }

  /** In order: what comes while the sale before is put away stands behind it in one row. */
  function inOrder<T>(deed: () => Promise<T>): Promise<T> {
    const begun = begin()
    return begun ? begun.then(deed) : deed()
  }

  function takeQuantity(): number | undefined {
    const typed = quantity.value ?? undefined
    quantity.value = null
    return typed
  }

  function added(lineId: string): void {
    sound('scan')
    chosen.value = null
    const line = till.state.cart.lines.find((one) => one.id === lineId)
    if (line) say(t('lineAdded', { name: line.name ?? line.product.name }))
  }

  /** Asked under its other reading only when the first one is nothing. */
  async function asked(code: string, typed: number | undefined, other: string | undefined): Promise<Scanned> {
    const scanned = await till.scan(code, typed)
    if (scanned.kind !== 'unknown' || other === undefined) return scanned
    const again = await till.scan(other, typed)
    return again.kind === 'unknown' ? scanned : again
  }

  async function scan(code: string, other?: string): Promise<void> {
    trouble.value = null
    if (isHeld()) return
    const typed = takeQuantity()
    try {
      const scanned = await inOrder(() => asked(code, typed, other))
      switch (scanned.kind) {
        case 'line':
          return added(scanned.lineId)
        case 'sale':
          sound('scan')
          return openPanel('sale', { receiptNumber: scanned.receiptNumber })
        case 'waiting':
          sound('unknown')
          return say(t('codeWaits', { code }), 'warn')
        case 'unknown':
          sound('unknown')
          return ask({ kind: 'unknown', code: scanned.code, quantity: typed })
        default: {
          sound('unknown')
          const needs = needsOf(scanned.product, typed, scanned.code)
          if (scanned.kind === 'age') needs.age = scanned.years
          if (scanned.kind === 'open_price') needs.price = true
          if (scanned.kind === 'weight') needs.weight = true
          if (scanned.kind === 'name') needs.name = true
          ask({ kind: 'needs', product: scanned.product, needs, code: scanned.code, quantity: typed })
        }
      }
    } catch (error) {
      sound('refused')
      trouble.value = troubleOf(error)
    }
  }

  async function add(product: Product): Promise<void> {
    trouble.value = null
    if (isHeld()) return
    const typed = takeQuantity()
    const needs = needsOf(product, typed)
    if (!needsNothing(needs)) return ask({ kind: 'needs', product, needs, quantity: typed })
    try {
      added(await inOrder(() => till.add(product, typed === undefined ? {} : { quantity: typed })))
    } catch (error) {
      sound('refused')
      trouble.value = troubleOf(error)
    }
  }

  async function answer(extra: LineExtra): Promise<void> {
    const [question] = questions.value
    if (question?.kind !== 'needs') return
    const { code, quantity: typed } = question
    const said = { ...(code && { code }), ...(typed !== undefined && { quantity: typed }), ...extra }
    const lineId = await inOrder(() => till.add(question.product, said))
    questions.value = questions.value.filter((one) => one !== question)
    added(lineId)
  }

  function skip(): void {
    questions.value = questions.value.slice(1)
    saidNothing()
  }

  return { questions, quantity, trouble, chosen, scan, add, answer, skip }
}

/** One for each till: a question is still there after a quick change of cashier. */
const made = new WeakMap<Till, Scanning>()

export function useScanning(): Scanning {
  const till = useTill()
  const scanning = made.get(till) ?? makeScanning(till)
  made.set(till, scanning)
  return scanning
}
