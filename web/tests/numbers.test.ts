import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { amountText, count, marksOf, minorOf, money, numberText, plainNumber } from '@/format/money'
import { chooseLanguage, offer, speak } from '@/texts/languages'

describe('amounts in fields', () => {
  it.each([
    ['en-US', 129_900, 2, '1,299.00'],
    ['de-DE', 129_900, 2, '1.299,00'],
    ['fr-FR', 129_900, 2, '1\u202f299,00'],
    ['pt-BR', 123_456_789, 2, '1.234.567,89'],
    ['en-IN', 123_456_789, 2, '12,34,567.89'],
    ['sv-SE', -5, 2, '-0,05'],
    ['ar-EG', 129_900, 2, '1,299.00'],
    ['fa-IR', 1_299, 0, '1,299'],
    ['ja-JP', 1_299, 0, '1,299'],
    ['es-ES', 129_900, 2, '1299,00'],
    ['de-DE', 1, 3, '0,001'],
    ['en-US', 999_999_999_999_999, 2, '9,999,999,999,999.99'],
  ])('in %s %d with %d decimals stands as %s, and is read back', (locale, minor, exponent, text) => {
    const marks = marksOf(locale)
    expect(amountText(minor, exponent, marks)).toBe(text)
    expect(minorOf(text, exponent, marks)).toBe(minor)
  })

  it.each([
    // Either mark before the decimals, wherever it cannot stand between thousands.
    ['de-DE', '19.99', 1999],
    ['de-DE', '19,99', 1999],
    ['en-US', '19,99', 1999],
    ['en-US', '0,299', null],
    ['de-DE', '1.299', 129_900],
    ['en-US', '1,299', 129_900],
    ['en-US', '1.299', null],
    ['de-DE', '1,299', null],
    ['fr-FR', '1 299,5', 129_950],
    ['fr-FR', '1.299', null],
    // With both, the last one.
    ['en-US', '1.299,00', 129_900],
    ['de-DE', '1,299.00', 129_900],
    ['de-CH', "1'299.00", 129_900],
    ['en-US', ' .5 ', 50],
    ['en-US', '5.', 500],
    ['sv-SE', '\u22125', -500],
    ['en-US', '19 99', null],
    ['en-US', '1,2,3', null],
    ['en-US', '1,23.45', null],
    ['en-US', '1.2.3', null],
    ['en-US', '12,34,567', 123_456_700],
    ['en-US', '-', null],
    ['en-US', '.', null],
    ['en-US', '1e3', null],
    ['en-US', '--5', null],
    ['en-US', '99999999999999', null],
  ])('in %s a typed %j is %j cents', (locale, typed, minor) => {
    expect(minorOf(typed, 2, marksOf(locale))).toBe(minor)
  })
})

describe('other numbers in fields', () => {
  it.each([
    ['de-DE', 1.237, '1,237'],
    ['en-US', 1.237, '1.237'],
    ['de-DE', 1234.5, '1.234,5'],
    ['en-US', 0.299, '0.299'],
    ['en-US', -3, '-3'],
  ])('in %s %d stands as %s, and is read back', (locale, number, text) => {
    const marks = marksOf(locale)
    expect(numberText(number, marks)).toBe(text)
    expect(plainNumber(text, marks)).toBe(String(number))
  })
})

describe('numbers on a page', () => {
  const browser = (...languages: string[]) => {
    vi.spyOn(navigator, 'languages', 'get').mockReturnValue(languages)
    vi.spyOn(navigator, 'language', 'get').mockReturnValue(languages[0]!)
  }
  const seen = () => [amountText(129_900, 2), minorOf('1,299', 3), count(1_299), money(5, { code: 'EUR', exponent: 2 })]

  beforeEach(() => offer({ de: () => Promise.resolve({ default: {} }) }))
  afterEach(async () => {
    localStorage.clear()
    vi.restoreAllMocks()
    await speak('en')
  })

  it.each([
    [['fr-FR'], ['1\u202f299,00', 1_299, '1\u202f299', '0,05\u00a0€']],
    [
      ['fr-FR', 'de'],
      ['1\u202f299,00', 1_299, '1\u202f299', '0,05\u00a0€'],
    ],
    [
      ['pt-BR', 'pt', 'en-US'],
      ['1.299,00', 1_299, '1.299', '€\u00a00,05'],
    ],
  ])('that speaks another language than a browser of %j are as in that browser', async (languages, texts) => {
    browser(...languages)
    await speak()
    expect(seen()).toEqual(texts)
  })

  it('are as in the language that was chosen', async () => {
    browser('en-US')
    await chooseLanguage('de')
    expect(seen()).toEqual(['1.299,00', 1_299, '1.299', '0,05\u00a0€'])
    browser('pt-BR', 'en')
    await chooseLanguage('en')
    expect(seen()).toEqual(['1,299.00', 1_299_000, '1,299', '€0.05'])
    // Known again when the page is loaded anew.
    await speak()
    expect(seen()[0]).toBe('1,299.00')
  })
})
