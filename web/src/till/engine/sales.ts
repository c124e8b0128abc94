import type { ListedSale, Paper, PrintJob, Refunded, Refundable, SaleWithRefunds, Till } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { amountWords, isApprovable, requiredBy, type Gate } from './approvals'
import type { CartPart } from './cart'
import { placeOf, requireFree, sessionOf, type Core } from './core'
import type { DeedPart } from './deeds'
import { onPrinter } from './drawer'
import { newId } from './ids'
import { t } from './texts'

/** Sales that were: found, shown, printed, given back, exchanged, voided. */

type SalesPart = Pick<
  Till,
  | 'findSales'
  | 'sale'
  | 'byReceipt'
  | 'refundable'
  | 'refund'
  | 'beginExchange'
  | 'endExchange'
  | 'voidSale'
  | 'receipt'
  | 'print'
  | 'findCustomers'
  | 'newCustomer'
  | 'nameBuyer'
>

const PER_PAGE = 25

interface SalesNeeds {
  gate: Gate
  deeds: DeedPart
  cart: CartPart
  noteReceipt: (sale: Refunded) => void
}

export function makeSales(core: Core, { gate, deeds, cart, noteReceipt }: SalesNeeds): SalesPart {
  const { state } = core
  const ask = <T>(...args: Parameters<ReturnType<Core['asker']>['ask']>) => core.asker().ask<T>(...args)

  return {
    findSales({ receipt, date, customerId, page = 1 }) {
      const query = { search: receipt || undefined, businessDate: date, customerId, page, pageSize: PER_PAGE }
      return ask<ListedSale[]>('GET', '/pos/sales', { query })
    },
    sale: (id) => ask<SaleWithRefunds>('GET', `/pos/sales/${id}`),
    byReceipt: (number) => ask<SaleWithRefunds>('GET', `/pos/sales/by-receipt/${encodeURIComponent(number.trim())}`),
    refundable: (id, receiptNumber) =>
      ask<Refundable>('GET', `/pos/sales/${id}/refundable`, { query: { receiptNumber } }),

    async refund(saleId, draft) {
      requireFree(core)
      sessionOf(core)
      const place = placeOf(core)
      const content = { ...draft, terminalId: place.terminalId }
      const amount = draft.expectedTotal ?? null
      const deed = amount === null ? t('deedRefundAny') : t('deedRefundOf', { amount: amountWords(place)(amount) })
      const made = await gate.allowed(
        (tokens) => deeds.send<Refunded>('refund', `/pos/sales/${saleId}/refunds`, content, tokens),
        (refusal) => {
          const { refundHash } = refusal.more
          const [permission] = requiredBy(refusal)
          if (!isApprovable(refusal) || typeof refundHash !== 'string' || !permission) return null
          return { permission, deed, context: { refundHash }, reasonKind: 'refund' }
        },
      )
      noteReceipt(made)
      return made
    },

    async beginExchange(half) {
      requireFree(core)
      state.cart.exchange = { ...half, refundId: newId() }
      cart.changed()
    },
    async endExchange() {
      requireFree(core)
      state.cart.exchange = null
      cart.changed()
    },

    async voidSale(saleId, reason) {
      requireFree(core)
      const { terminalId } = placeOf(core)
      const of = state.lastSale?.id === saleId ? state.lastSale.receiptNumber : null
      const deed = of ? t('deedVoid', { receipt: of }) : t('deedVoidAny')
      await gate.allowed(
        (approvals) => ask('POST', `/pos/sales/${saleId}/void`, { body: { ...reason, terminalId, approvals } }),
        (refusal) =>
          isApprovable(refusal)
            ? { permission: requiredBy(refusal)[0] ?? 'pos.void', deed, context: { saleId }, reasonKind: 'void' }
            : null,
      )
    },

    async receipt(saleId, kind): Promise<Paper> {
      const path = `/pos/sales/${saleId}`
      // A copy is counted by the store before it is shown: it says which one it is.
      const job = kind === 'copy' && !state.training ? await counted(saleId) : null
      const query = job ? { print: job.id } : { kind }
      const of = (format: string) =>
        ask<string>('GET', `${path}/receipt`, { query: { ...query, format }, parse: 'text' })
      const [html, text] = await Promise.all([of('html'), of('text')])
      return { html, text }
    },

    print(saleId, kind) {
      const { terminalId } = placeOf(core)
      const path = `/pos/sales/${saleId}/prints`
      const content = { to: 'printer' as const, terminalId, ...(kind && { kind }) }
      return deeds.once(path, content, (id) =>
        onPrinter(core, path, { id, ...content } satisfies Schemas['PrintRequest']),
      )
    },

    async findCustomers(text) {
      const search = text.trim()
      if (search === '') return []
      return ask('GET', '/pos/customers', { query: { search, pageSize: PER_PAGE } })
    },

    async nameBuyer(saleId, buyer) {
      await ask('POST', `/pos/sales/${saleId}/buyer`, { body: buyer satisfies Schemas['SaleBuyer'] })
    },

    async newCustomer(draft) {
      const made = await deeds.once('/customers', draft, (id) =>
        ask<Schemas['Customer']>('POST', '/customers', { body: { ...draft, id: draft.id ?? id } }),
      )
      return summaryOf(made)
    },
  }

  function counted(saleId: string): Promise<PrintJob> {
    const { terminalId } = placeOf(core)
    const path = `/pos/sales/${saleId}/prints`
    const content = { to: 'browser' as const, terminalId, kind: 'copy' as const }
    return deeds.once(path, content, (id) =>
      ask<PrintJob>('POST', path, { body: { id, ...content } satisfies Schemas['PrintRequest'] }),
    )
  }
}

export function summaryOf(customer: Schemas['Customer']): Schemas['CustomerSummary'] {
  const { id, customerNumber, firstName, lastName, companyName, phone, taxExempt } = customer
  const name = [firstName, lastName].filter(Boolean).join(' ') || companyName || customerNumber
  return { id, customerNumber, name, phoneLast4: phone?.slice(-4) ?? null, taxExempt }
}
