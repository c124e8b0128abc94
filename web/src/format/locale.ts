import { i18n } from '@/texts'
import { isChosen } from '@/texts/languages'

/**
 * In what dates are written: the language of the page, as it is written where the browser is. On an English page of a
 * browser from Germany that is `en-DE`, with English months, the day first and 24 hours.
 */
export function localeOf(language: string, browser: string): string {
  const { language: theirs, region } = new Intl.Locale(browser || language).maximize()
  if (theirs === language) return browser || language
  return region ? `${language}-${region}` : language
}

/** That of the page as it is now. */
export const pageLocale = (): string => localeOf(i18n.global.locale.value, navigator.language)

/**
 * In what numbers are written and read: the browser's, until another language is chosen. Who has French in the browser types
 * a comma before the cents, also where the page speaks no French.
 */
export const numberLocale = (): string => (isChosen.value ? pageLocale() : navigator.language || pageLocale())

/** Something that is made of the language when it is first used, and again in another language. */
export function inLocale<Made>(make: (locale: string) => Made, locale: () => string = pageLocale): () => Made {
  let last: { of: string; made: Made } | undefined
  return () => {
    const of = `${i18n.global.locale.value} ${navigator.language} ${isChosen.value}`
    if (last?.of !== of) last = { of, made: make(locale()) }
    return last.made
  }
}

/** Numbers as the language writes them. */
export const numbers = (options: Intl.NumberFormatOptions = {}) =>
  inLocale((locale) => new Intl.NumberFormat(locale, options), numberLocale)
