import { computed, watch } from 'vue'
import { useTill } from '../engine/use'
import { useKeys } from '../keys'
import { troubleOf } from '../parts/useDeed'
import { closePanel, home, openPanel, panel, type PanelName } from './panels'
import { say } from './said'
import { nameOf, payBlock, type PayBlock } from './shown'
import { soundsOf } from './sound'
import { t } from './texts'
import { useScanning } from './useScanning'

const WORDS: Record<PayBlock, () => string> = {
  empty: () => t('blockEmpty'),
  question: () => t('blockQuestion'),
  paying: () => t('blockPaying'),
  away: () => t('blockAway'),
  unknown: () => t('blockUnknown'),
  refused: () => t('blockRefused'),
}

/** What a cashier does with the cart, by key or by touch. `search` leads to the code field. */
export function useSelling(search: () => void) {
  const till = useTill()
  const scanning = useScanning()
  const { state } = till
  const sound = soundsOf(till)

  const hasCart = computed(() => state.cart.lines.length + state.cart.unknown.length > 0)
  /** What keys are about: the line that somebody chose, else the last one. */
  const current = computed(() => {
    const { lines } = state.cart
    return lines.find(({ id }) => id === scanning.chosen.value) ?? lines.at(-1) ?? null
  })
  const block = computed(() => payBlock(state, scanning.questions.value.length))
  const blockText = computed(() => (block.value ? WORDS[block.value]() : null))

  function refuse(text: string): void {
    sound('refused')
    say(text, 'warn')
  }

  /** One after the other: a key that is pressed twice at once counts from what the first press has made. */
  let row: Promise<unknown> = Promise.resolve()
  function inRow(deed: () => Promise<unknown> | undefined): Promise<void> {
    const done = row.then(deed).then(
      () => {},
      (error: unknown) => void (scanning.trouble.value = troubleOf(error)),
    )
    row = done
    return done
  }

  /** A payment that is on its way is of the cart as it was. */
  function isFirm(): boolean {
    if (state.pending) refuse(t('heldByPayment'))
    return state.pending !== null
  }

  function step(by: number, lineId = current.value?.id): Promise<void> {
    if (lineId === undefined || isFirm()) return Promise.resolve()
    return inRow(() => {
      const line = state.cart.lines.find(({ id }) => id === lineId)
      if (!line) return
      const isCounted = !line.product.isWeighed && line.labelAmount === undefined
      if (!isCounted) return void refuse(t('notCounted', { name: nameOf(line) }))
      if (line.quantity + by <= 0) return void refuse(t('useRemove', { name: nameOf(line) }))
      return till.changeLine(lineId, { quantity: line.quantity + by })
    })
  }

  function remove(lineId = current.value?.id): Promise<void> {
    if (lineId === undefined || isFirm()) return Promise.resolve()
    return inRow(async () => {
      const line = state.cart.lines.find(({ id }) => id === lineId)
      if (!line) return
      await till.removeLine(lineId)
      scanning.chosen.value = null
      if (panel.value === 'line') closePanel()
      say(t('lineRemoved', { name: nameOf(line) }))
    })
  }

  function choose(by: number): boolean {
    const { lines } = state.cart
    if (lines.length === 0) return false
    const at = lines.findIndex(({ id }) => id === current.value?.id)
    const next = lines[Math.min(lines.length - 1, Math.max(0, at + by))]
    scanning.chosen.value = next?.id ?? null
    return true
  }

  /** A panel that changes the cart, which nothing may do while it is being paid. */
  function change(name: PanelName): void {
    if (!isFirm()) openPanel(name)
  }

  function openLine(lineId = current.value?.id): boolean {
    if (lineId === undefined) return false
    scanning.chosen.value = lineId
    if (!isFirm()) openPanel('line', { lineId })
    return true
  }

  function pay(): void {
    if (panel.value === 'pay' || state.taken) return
    if (blockText.value) return refuse(blockText.value)
    openPanel('pay')
  }

  const mayPark = computed(() => till.may('pos.park_cart'))

  function park(): void {
    if (!mayPark.value) return refuse(t('mayNotPark'))
    if (!hasCart.value) return void openPanel('parked')
    if (isFirm()) return
    void inRow(async () => {
      await till.park(state.cart.customer?.name)
      say(t('parkedNow'))
    })
  }

  function parked(): void {
    if (mayPark.value) change('parked')
    else refuse(t('mayNotPark'))
  }

  function drop(): void {
    if (hasCart.value) change('drop')
    else refuse(t('blockEmpty'))
  }

  const lock = () => inRow(() => till.lock())
  const dropUnknown = (id: string) => inRow(() => till.dropUnknown(id))
  const endExchange = () => inRow(() => till.endExchange())

  function lastSale(): void {
    if (state.lastSale) openPanel('sale', { saleId: state.lastSale.id })
    else refuse(t('noLastSale'))
  }

  function back(): boolean {
    if (panel.value !== home.value) closePanel()
    else if (scanning.chosen.value !== null) scanning.chosen.value = null
    else return false
    return true
  }

  function find(): void {
    if (panel.value !== 'tiles') openPanel('tiles')
    search()
  }

  useKeys({
    search: find,
    camera: () => openPanel('camera'),
    customer: () => openPanel('customer', panel.value === 'pay' ? { back: 'pay' } : {}),
    rep: () => change('rep'),
    discount: () => change('discount'),
    note: () => change('note'),
    park,
    parked,
    find: () => openPanel('find'),
    lastSale,
    drawer: () => openPanel('movements'),
    menu: () => openPanel('menu'),
    x: () => openPanel('x'),
    lock: () => void lock(),
    pay,
    more: () => void step(1),
    fewer: () => void step(-1),
    remove: () => void remove(),
    drop,
    lineUp: () => choose(-1),
    lineDown: () => choose(1),
    line: () => openLine(),
    back,
  })

  watch(
    () => state.taken,
    (taken) => {
      home.value = taken ? 'taken' : 'tiles'
      if (taken) openPanel('taken')
      else if (panel.value === 'taken') closePanel()
    },
    { immediate: true },
  )
  // Another cart has other lines.
  watch(
    () => state.cart.id,
    () => (scanning.chosen.value = null),
  )

  return {
    ...{ hasCart, current, block, blockText, step, remove, change, openLine, pay, mayPark, park, drop },
    ...{ lock, dropUnknown, endExchange, lastSale, find },
  }
}
