import type { Bootstrap, Z } from '../../contract'
import { money } from '@/format/money'
import { room } from '@/texts'
import en from '@/texts/en/tillTraining'
import type { Document } from './documents'

/** Paper of training, as text and as a page: plainly nothing that anybody was sold anything with. */

const t = room('tillTraining', en)
const WIDTH = 42

type Row = [left: string, right: string]

const amountOf = (boot: Bootstrap) => (amount: number) =>
  money(amount, { code: boot.store.currencyCode, exponent: boot.store.currencyExponent })

export function receiptRows(sale: Document, boot: Bootstrap): Row[] {
  const amount = amountOf(boot)
  return [
    [t('head'), ''],
    [boot.store.name, sale.receiptNumber],
    ...sale.saleItems.map((item): Row => [`${item.quantity} × ${item.productName}`, amount(item.totalAmount)]),
    [t('tax'), amount(sale.taxAmount)],
    [t('total'), amount(sale.totalAmount)],
    ...sale.salePayments.map((payment): Row => [payment.tenderCode, amount(payment.amount + payment.changeAmount)]),
    [t('change'), amount(sale.changeAmount)],
    [t('head'), ''],
  ]
}

export function reportRows(report: Z, boot: Bootstrap): Row[] {
  const amount = amountOf(boot)
  return [
    [t('report'), report.header.businessDate],
    [t('head'), ''],
    ...report.tenders.map((tender): Row => [`${tender.count} × ${tender.tenderCode}`, amount(tender.amount)]),
    [t('tax'), amount(report.taxAmount)],
    [t('total'), amount(report.totalAmount)],
    [t('expected'), amount(report.expectedCash)],
  ]
}

const line = ([left, right]: Row): string =>
  right === '' ? left : `${left.slice(0, WIDTH - right.length - 1).padEnd(WIDTH - right.length)}${right}`

const SAFE: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function written(rows: Row[], format: unknown): string {
  const text = rows.map(line).join('\n')
  if (format !== 'html') return `${text}\n`
  return `<!doctype html><meta charset="utf-8"><pre>${text.replace(/[&<>"]/g, (sign) => SAFE[sign] ?? sign)}</pre>`
}
