import { describe, expect, it } from 'vitest'
import { inCoins, suggestions } from '@/till/pay/suggestions'

const EXACT = { cashRoundingIncrement: 1, cashRoundingMode: 'nearest' }
const of = (code: string, exponent: number) => ({ currencyCode: code, currencyExponent: exponent })
const USD = of('USD', 2)

describe('amounts that people hand over', () => {
  it.each([
    ['USD', 2, 735, 1, [800, 1000, 2000, 5000, 10_000]],
    ['USD', 2, 12_345, 1, [12_400, 12_500, 13_000, 14_000, 15_000, 20_000]],
    ['EUR', 2, 2340, 1, [2400, 2500, 3000, 4000, 5000, 10_000]],
    ['JPY', 0, 1234, 1, [1300, 1500, 2000, 5000, 10_000]],
    ['KWD', 3, 3210, 5, [3250, 3500, 4000, 5000, 10_000, 20_000]],
    ['CHF', 2, 1235, 5, [1300, 1500, 2000, 5000, 10_000, 20_000]],
    ['XTS', 2, 735, 1, [800, 1000, 2000, 5000, 10_000, 20_000]],
    ['XTS', 0, 153_250, 1, [154_000, 155_000, 160_000, 200_000, 500_000, 1_000_000]],
  ])('are whole amounts and notes of %s with %i decimals above %i', (code, exponent, due, increment, amounts) => {
    const coins = { cashRoundingIncrement: increment, cashRoundingMode: 'nearest' }
    expect(suggestions(due, of(code, exponent), coins)).toEqual(amounts)
  })

  it('are none that somebody would hand over in vain', () => {
    // Ten pays ten: nobody gives eleven.
    expect(suggestions(1000, USD, EXACT)).toEqual([2000, 5000, 10_000])
    // Small change is nothing beside a large amount.
    expect(suggestions(154_320, USD, EXACT)[0]).toBe(155_000)
  })

  it('are above what is due and payable in coins, whatever is due', () => {
    for (const [code, exponent] of [
      ['USD', 2],
      ['JPY', 0],
      ['KWD', 3],
      ['CHF', 2],
      ['XTS', 2],
    ] as const) {
      for (const increment of [1, 5, 10, 50]) {
        for (let due = increment; due < 30_000; due += 37 * increment) {
          const coins = { cashRoundingIncrement: increment, cashRoundingMode: 'up' }
          const amounts = suggestions(due, of(code, exponent), coins)
          expect(amounts.every((amount) => amount > due && amount % increment === 0)).toBe(true)
          expect(amounts.length).toBeLessThanOrEqual(6)
        }
      }
    }
  })

  it('are none where nothing is due', () => {
    expect(suggestions(0, USD, EXACT)).toEqual([])
    expect(suggestions(-500, USD, EXACT)).toEqual([])
  })
})

describe('cash', () => {
  it.each([
    [1232, 5, 'nearest', 1230],
    [1233, 5, 'nearest', 1235],
    [1231, 5, 'up', 1235],
    [1234, 5, 'down', 1230],
    [5, 10, 'nearest', 10],
    [-5, 10, 'nearest', -10],
    [-1231, 5, 'up', -1235],
    [1234, 1, 'nearest', 1234],
    [1234, 0, 'nearest', 1234],
    [2, 5, 'nearest', 0],
  ])('%i in coins of %i, %s, is %i, as the store rounds it', (amount, increment, mode, rounded) => {
    expect(inCoins(amount, { cashRoundingIncrement: increment, cashRoundingMode: mode })).toBe(rounded)
  })
})
