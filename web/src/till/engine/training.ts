import { TillError, type Bootstrap, type TenderCount } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { ApiError } from '@/api/errors'
import type { Catalogue } from './catalogue'
import type { Asker } from './inside'
import { newId, silence } from './training/alone'
import { book, refundableOf, refundOf, saleOf, type Desk, type Document } from './training/documents'
import { countsOf, newDrawer, reportOf, type Till } from './training/drawer'
import { receiptRows, reportRows, written } from './training/paper'
import { priced, refuse, settle } from './training/priced'

/**
 * Training: answers as the store would, from memory. Nothing leaves the page and nothing is kept; numbers are made up (`T-000001`),
 * amounts are those of the catalogue with the taxes of the store, without its specials. Nobody is asked for an approval.
 */
export function makeTrainingAsker(
  boot: Bootstrap,
  catalogue: Pick<Catalogue, 'product'>,
  said: (error: ApiError) => Error = plainly,
): Asker {
  const parked = new Map<string, { cart: Schemas['Cart']; shown: Schemas['ParkedCart'] }>()
  const now = () => new Date().toISOString()
  const find = (id: string) => catalogue.product(id)
  let count = 0
  let till: Till | null = {
    drawer: newDrawer(boot, newId(), now(), boot.register.defaultFloat ?? boot.store.defaultFloat ?? 0),
    documents: [],
    movements: [],
  }

  const open = (): Till => {
    if (!till || till.drawer.status === 'closed') throw refuse(404, 'no_open_session')
    return till
  }
  const selling = (): Till => {
    const here = open()
    if (here.drawer.status !== 'open') throw refuse(409, 'session_closed')
    return here
  }
  const desk = (here: Till): Desk => ({
    boot,
    sessionId: here.drawer.id,
    number: `T-${String((count += 1)).padStart(6, '0')}`,
    now: now(),
    id: newId,
  })
  const documents = () => till?.documents ?? []
  const documentOf = (isIt: (one: Document) => boolean): Document => {
    const found = documents().find(isIt)
    if (!found) throw refuse(404, 'not_found')
    return found
  }
  const sale = (id: string) => documentOf((one) => one.id === id)
  const withRefunds = (one: Document): Schemas['SaleWithRefunds'] => ({
    ...one,
    refunds: documents()
      .filter((refund) => refund.originalSaleId === one.id)
      .map(({ id, receiptNumber, totalAmount, completedAt }) => ({ id, receiptNumber, totalAmount, completedAt })),
  })

  function sell(body: Schemas['Cart'], total?: bigint): Document {
    const known = documents().find((one) => one.id === body.id)
    if (known) return known
    const here = selling()
    const cart = priced({ ...body, payments: null }, boot, find)
    if (cart.lines.length === 0) throw refuse(422, 'validation', 'lines')
    if (body.expectedTotal != null && body.expectedTotal !== Number(cart.cart.total))
      throw refuse(409, 'total_mismatch')
    const settled = settle(total ?? cart.cart.total, body.payments ?? [], boot)
    if (settled.rest !== 0) throw refuse(422, 'validation', 'payments')
    const made = saleOf(desk(here), body, cart, settled)
    here.documents.push(made)
    return made
  }

  function giveBack(
    original: Document,
    body: Schemas['Refund'] | Schemas['ExchangeRefund'],
    payments: Schemas['CartPayment'][],
  ) {
    const known = documents().find((one) => one.id === body.id)
    if (known) return known
    const here = selling()
    if (original.status === 'voided') throw refuse(409, 'already_voided')
    const cash = boot.tenders.find((one) => one.kind === 'cash')
    const by = payments.length > 0 ? payments : cash ? [{ tenderId: cash.id }] : []
    const made = refundOf(desk(here), original, body, by)
    book(original, made)
    here.documents.push(made)
    return made
  }

  /** What comes back pays a part of what is bought; the customer pays the rest, or gets it. */
  function exchange({ refund, sale: cart, payments }: Schemas['Exchange']): Schemas['Exchanged'] {
    const known = documents().find((one) => one.id === cart.id)
    const group = known?.exchangeGroupId ?? newId()
    if (!known) {
      const quoted = priced({ ...cart, payments: null }, boot, find)
      const back = giveBack(sale(refund.saleId), refund, [])
      const sold = sell({ ...cart, payments: payments ?? [] }, quoted.cart.total + BigInt(back.totalAmount))
      ;[back.salePayments, back.cashRounding] = [[], 0]
      ;[back.exchangeGroupId, sold.exchangeGroupId] = [group, group]
    }
    const back = documentOf((one) => one.id === refund.id)
    const sold = documentOf((one) => one.id === cart.id)
    return { exchangeGroupId: group, refund: back, sale: sold, checkedAtHq: true, refundWarnings: [], warnings: [] }
  }

  function park({ id, label, cart }: Schemas['CartToPark']): Schemas['ParkedCart'] {
    const known = parked.get(id)
    if (known) return known.shown
    const { quote } = priced({ ...cart, payments: null }, boot, find)
    const shown: Schemas['ParkedCart'] = {
      id,
      label: label ?? null,
      state: 'parked',
      parkedAt: now(),
      businessDate: now().slice(0, 10),
      cashierUserId: '',
      customerId: cart.customerId ?? null,
      itemCount: cart.lines?.length ?? 0,
      terminalId: boot.register.terminalId,
      totalAtPark: quote.totalAmount,
    }
    parked.set(id, { cart, shown })
    return shown
  }

  function resume(id: string): Schemas['ResumedCart'] {
    const found = parked.get(id)
    if (!found) throw refuse(404, 'not_found')
    const cart = { ...found.cart, id: found.cart.id ?? newId(), payments: undefined }
    const { quote } = priced(cart, boot, find)
    parked.delete(id)
    const parkedCart = { ...found.shown, state: 'resumed', resumedAt: now(), saleId: cart.id }
    // An object of any kind, as it is described.
    const said = cart as unknown as Schemas['ResumedCart']['cart']
    return { cart: said, changes: [], parkedCart, quote, removed: null }
  }

  const answered = (drawer: Till['drawer']) => ({ ...drawer, updatedAt: now() })

  function openDrawer({ openingFloat }: Schemas['SessionOpening']) {
    if (till && till.drawer.status !== 'closed') throw refuse(409, 'session_already_open')
    const float = openingFloat ?? boot.register.defaultFloat ?? boot.store.defaultFloat ?? 0
    till = { drawer: newDrawer(boot, newId(), now(), float), documents: [], movements: [] }
    return answered(till.drawer)
  }

  function countDrawer({ counts, reopen }: Schemas['SessionCount']) {
    const { drawer } = open()
    if (reopen) Object.assign(drawer, { status: 'open', counts: [], countedAt: null, countedCash: null })
    else {
      const list = countsOf(open(), boot, (counts ?? []) as TenderCount[])
      const cash = list.find((one) => one.tenderKind === 'cash')?.counted ?? null
      Object.assign(drawer, { status: 'counting', counts: list, countedAt: now(), countedCash: cash })
    }
    return answered(drawer)
  }

  function closeDrawer() {
    const here = open()
    const { drawer } = here
    if (drawer.countedAt === null) throw refuse(409, 'not_counted')
    const expected = reportOf(here, boot).expectedCash
    const variance = (drawer.countedCash ?? 0) - expected
    Object.assign(drawer, { status: 'closed', closedAt: now(), expectedCash: expected, cashVariance: variance })
    drawer.totals = reportOf(here, boot)
    return answered(drawer)
  }

  function move(body: Schemas['CashMovementRequest']): Schemas['CashMovement'] {
    const here = selling()
    const known = here.movements.find((one) => one.id === body.id)
    if (known) return known
    const { id, type, amount, reason, reasonCode } = body
    const of = { sessionId: here.drawer.id, registerId: here.drawer.registerId, businessDate: here.drawer.businessDate }
    const made = {
      id,
      type,
      amount,
      reason: reason ?? '',
      reasonCode: reasonCode ?? null,
      at: now(),
      userId: '',
      ...of,
    }
    here.movements.push(made)
    return made
  }

  function voidSale(id: string, { reason, reasonCode }: Schemas['SaleVoid']): Document {
    const found = sale(id)
    if (found.refundedAmount !== 0) throw refuse(409, 'has_refunds')
    if (found.status === 'voided') throw refuse(409, 'already_voided')
    return Object.assign(found, {
      status: 'voided',
      voidedAt: now(),
      voidReason: reason ?? null,
      voidReasonCode: reasonCode ?? null,
    })
  }

  const report = () => {
    if (!till) throw refuse(404, 'no_open_session')
    return reportOf(till, boot)
  }

  type Query = Record<string, string | number | undefined>
  type Route = [method: string, path: RegExp, answer: (id: string, body: never, query: Query) => unknown]
  const isPaper = ({ format }: Query) => format !== undefined && format !== 'json'
  const route = <B>(method: string, path: string, answer: (id: string, body: B, query: Query) => unknown): Route => [
    method,
    new RegExp(`^${path.replace('{}', '([^/]+)')}$`),
    answer as Route[2],
  ]
  const routes: Route[] = [
    route('GET', '/pos/bootstrap', () => ({ ...boot, session: till?.drawer ?? null, serverTime: now() })),
    route('POST', '/pos/quote', (_, body: Schemas['Cart']) => priced(body, boot, find).quote),
    route('POST', '/pos/sales', (_, body: Schemas['SoldCart']) => ({ ...sell(body), warnings: [] })),
    route('GET', '/pos/sales', (_, __, { receiptNumber, businessDate }) =>
      documents().filter(
        (one) =>
          (!receiptNumber || one.receiptNumber.includes(String(receiptNumber))) &&
          (!businessDate || one.businessDate === businessDate),
      ),
    ),
    route('GET', '/pos/sales/by-receipt/{}', (number) =>
      withRefunds(documentOf((one) => one.receiptNumber === number)),
    ),
    route('GET', '/pos/sales/{}/refundable', (id) => refundableOf(sale(id))),
    route('GET', '/pos/sales/{}/receipt', (id, _, { format }) => written(receiptRows(sale(id), boot), format)),
    route('GET', '/pos/sales/{}', (id) => withRefunds(sale(id))),
    route('POST', '/pos/sales/{}/refunds', (id, body: Schemas['Refund']) => ({
      ...giveBack(sale(id), body, (body.payments ?? []) as Schemas['CartPayment'][]),
      checkedAtHq: true,
      warnings: [],
    })),
    route('POST', '/pos/sales/{}/void', (id, body: Schemas['SaleVoid']) => voidSale(id, body)),
    route('POST', '/pos/exchanges', (_, body: Schemas['Exchange']) => exchange(body)),
    route('GET', '/pos/parked-carts', () => [...parked.values()].map((one) => one.shown)),
    route('POST', '/pos/parked-carts', (_, body: Schemas['CartToPark']) => park(body)),
    route('POST', '/pos/parked-carts/{}/resume', (id) => resume(id)),
    route('DELETE', '/pos/parked-carts/{}', (id) => (parked.delete(id), null)),
    route('POST', '/registers/{}/open', (_, body: Schemas['SessionOpening']) => openDrawer(body)),
    route('POST', '/registers/{}/no-sale', () => ((selling().drawer.noSaleCount += 1), null)),
    route('GET', '/register-sessions/current', () => answered(open().drawer)),
    route('POST', '/register-sessions/{}/cash-movements', (_, body: Schemas['CashMovementRequest']) => move(body)),
    route('POST', '/register-sessions/{}/count', (_, body: Schemas['SessionCount']) => countDrawer(body)),
    route('POST', '/register-sessions/{}/close', () => closeDrawer()),
    route('GET', '/register-sessions/{}', () => answered(open().drawer)),
    route('GET', '/reports/(?:x|z/.+)', (_, __, query) =>
      isPaper(query) ? written(reportRows(report(), boot), query.format) : report(),
    ),
    // What is real is not shown in training: no customers and no reasons, which are then typed.
    route('GET', '/pos/customers|/reasons', () => []),
    // What changes meanwhile is taken over after it.
    route('GET', '/pos/catalogue', (_, __, { since }) => {
      if (since === undefined) throw refuse(404, 'not_found')
      return { version: since, next: null, reset: false, products: [], removed: [] }
    }),
  ]

  return {
    async ask<T>(method: string, path: string, options: { query?: Query; body?: unknown } = {}): Promise<T> {
      try {
        for (const [of, form, answer] of routes) {
          const match = of === method ? form.exec(path) : null
          // As if it had come over a line: nobody changes what is here by what they were answered.
          if (match)
            return copy(
              answer(decodeURIComponent(match[1] ?? ''), copy(options.body ?? {}) as never, options.query ?? {}),
            ) as T
        }
        throw refuse(404, path.startsWith('/pos/lookup/') ? 'product_not_found' : 'not_found')
      } catch (error) {
        throw error instanceof ApiError ? said(error) : error
      }
    },
    stream: (_, __, signal) => Promise.resolve(new Response(silence(signal), { status: 200 })),
  }
}

const copy = <T>(value: T): T =>
  value === undefined || value === null ? value : (JSON.parse(JSON.stringify(value)) as T)

const plainly = (error: ApiError): Error =>
  new TillError({ code: error.code, title: error.code, text: error.code }, error.details[0]?.field ?? null, error)
