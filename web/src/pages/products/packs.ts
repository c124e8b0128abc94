import type { Schemas } from '@/api/client'
import { Unreadable, type Field } from '@/composables/fields'
import { amountText, minorOf, numberText, plainNumber, type Currency } from '@/format/money'
import { t } from './texts'

/** Codes of packs as lines that people can read and write: `4006381333931 6 11.90`. */

export type Pack = NonNullable<Schemas['ProductDraft']['packs']>[number]

const LINE = /^(\S+)\s+(\S+)(?:\s+(\S.*))?$/
const bare = (text: string) => text.replace(/\s/g, '')

export function lineOf({ code, quantity, price }: Pack, { exponent }: Currency): string {
  const amount = price === undefined ? [] : [bare(amountText(price, exponent))]
  return [code, bare(numberText(quantity)), ...amount].join(' ')
}

/** Throws what is wrong with the line. */
export function packOf(line: string, { exponent }: Currency): Pack {
  const [, code, many = '', amount] = LINE.exec(line.trim()) ?? []
  const quantity = plainNumber(many)
  const wrong = (what: 'packNoCode' | 'packNoPrice') => new Unreadable(t(what, { line }))
  if (!code || quantity === null || !/^\d{1,9}$/.test(quantity) || Number(quantity) === 0) {
    throw wrong('packNoCode')
  }
  if (amount === undefined) return { code, quantity: Number(quantity) }
  const price = minorOf(amount, exponent)
  if (price === null || price < 0) throw wrong('packNoPrice')
  return { code, quantity: Number(quantity), price }
}

export const entries = (currency: Currency): NonNullable<Field['entries']> => ({
  show: (pack) => lineOf(pack as Pack, currency),
  read: (line) => packOf(line, currency),
})
