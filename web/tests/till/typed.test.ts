import { afterEach, describe, expect, it, vi } from 'vitest'
import { effectScope } from 'vue'
import { showIn } from '@/format/dates'
import { marksOf } from '@/format/money'
import { denominationsOf, readDenominations, sumOf } from '@/till/parts/denominations'
import { typedAmount } from '@/till/parts/typed'
import { amount, time, useWords } from '@/till/parts/words'
import { fakeTill, place } from './fakeTill'

vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))
afterEach(() => vi.useRealTimers())

const EN = marksOf('en-US')
const DE = marksOf('de-DE')

describe('a typed amount', () => {
  it.each([
    ['19.99', 2, 1999],
    ['19,99', 2, 1999],
    ['1 999,50', 2, 199950],
    ['1,999.50', 2, 199950],
    ['1.999,50', 2, 199950],
    ['20', 2, 2000],
    ['0', 2, 0],
    ['1 999', 0, 1999],
    ['1.999', 0, 1999],
    ['1,999', 0, 1999],
    ['1.5', 3, 1500],
    ['1,250.500', 3, 1250500],
  ])('%s with %i decimals is %i in English and in German', (typed, exponent, minor) => {
    expect(typedAmount(typed, exponent, EN)).toEqual({ minor })
    expect(typedAmount(typed, exponent, DE)).toEqual({ minor })
  })

  it('goes by the language where it can be read in two ways', () => {
    expect(typedAmount('1.999', 2, DE)).toEqual({ minor: 199900 })
    expect(typedAmount('1.999', 2, EN)).toEqual({ wrong: 'decimals' })
  })

  it('is not guessed where a mark would make it a thousandfold', () => {
    expect(typedAmount('1,500', 3, EN)).toEqual({ wrong: 'unclear' })
    expect(typedAmount('1.500', 3, EN)).toEqual({ minor: 1500 })
    expect(typedAmount('1.500', 3, DE)).toEqual({ wrong: 'unclear' })
    expect(typedAmount('1,500', 3, DE)).toEqual({ minor: 1500 })
  })

  it('is refused when it is none, below zero, or finer than the currency', () => {
    expect(typedAmount('abc', 2, EN)).toEqual({ wrong: 'noAmount' })
    expect(typedAmount('1,2,3', 2, EN)).toEqual({ wrong: 'noAmount' })
    expect(typedAmount('-5', 2, EN)).toEqual({ wrong: 'below' })
    expect(typedAmount('5.123', 2, EN)).toEqual({ wrong: 'decimals' })
    expect(typedAmount('5.5', 0, EN)).toEqual({ wrong: 'decimals' })
  })
})

describe('coins and notes', () => {
  it.each(['USD', 'EUR', 'GBP', 'CHF', 'JPY', 'KWD', 'CAD', 'AUD', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'XYZ'])(
    'of %s are whole values, each once, the largest first',
    (code) => {
      const values = denominationsOf(code, code === 'JPY' ? 0 : code === 'KWD' ? 3 : 2)
      expect(values.length).toBeGreaterThan(6)
      expect(values).toEqual([...new Set(values)].sort((one, other) => other - one))
      expect(values.every((value) => Number.isInteger(value) && value > 0)).toBe(true)
    },
  )

  it('come to the sum of their values', () => {
    expect(sumOf({ '5000': 2, '100': 3 })).toBe(10_300)
    expect(sumOf({})).toBe(0)
  })

  it('are read in both forms in which a server keeps them', () => {
    expect(readDenominations([{ value: 5000, count: 2 }])).toEqual({ '5000': 2 })
    expect(readDenominations({ '100': 3 })).toEqual({ '100': 3 })
    expect(readDenominations(null)).toBeNull()
    expect(readDenominations([{ value: 'x' }])).toBeNull()
  })
})

describe('words of the shop', () => {
  const inShop = (more: Parameters<typeof place>[0]) => {
    const till = fakeTill({ place: place(more) })
    return { till, words: effectScope().run(() => useWords())! }
  }
  afterEach(() => showIn(undefined))

  it('have the decimals of its currency', () => {
    const { till, words } = inShop({ currencyCode: 'GBP' })
    expect(words.amount(150)).toBe('£1.50')
    expect(amount(9_007_199_254_740_991)).toBe('£90,071,992,547,409.91')
    expect(amount(null)).toBe('–')
    till.state.place = place({ currencyCode: 'JPY', currencyExponent: 0 })
    expect(amount(1999)).toBe('¥1,999')
    till.state.place = place({ currencyCode: 'KWD', currencyExponent: 3 })
    expect(amount(1999)).toContain('1.999')
  })

  it('have the clock of its zone, and that of the device where its browser does not know the zone', () => {
    showIn('Asia/Tokyo')
    expect(time('2026-11-26T23:30:00Z')).toMatch(/8:30/)
    expect(useWordsIn().dateTime('2026-11-26T23:30:00Z')).toMatch(/27.*8:30/)
    showIn('No/Where')
    expect(time('2026-11-26T23:30:00Z')).toMatch(/\d/)
    expect(time(null)).toBe('–')
  })

  const useWordsIn = () => inShop({}).words
})
