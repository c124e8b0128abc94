import { i18n } from '@/texts'

/**
 * In what numbers and dates are written: the language of the page, as it is written where the browser is. On an English
 * page of a browser from Germany that is `en-DE`, with English months, the day first and 24 hours.
 */
export function localeOf(language: string, browser: string): string {
  const { language: theirs, region } = new Intl.Locale(browser || language).maximize()
  if (theirs === language) return browser || language
  return region ? `${language}-${region}` : language
}

/** That of the page as it is now. */
export const pageLocale = (): string => localeOf(i18n.global.locale.value, navigator.language)

/** Something that is made of the language when it is first used, and again in another language. */
export function inLocale<Made>(make: (locale: string) => Made): () => Made {
  let last: { language: string; browser: string; made: Made } | undefined
  return () => {
    const language = i18n.global.locale.value
    const browser = navigator.language
    if (last?.language !== language || last.browser !== browser) {
      last = { language, browser, made: make(localeOf(language, browser)) }
    }
    return last.made
  }
}

/** Numbers as the language writes them. */
export const numbers = (options: Intl.NumberFormatOptions = {}) =>
  inLocale((locale) => new Intl.NumberFormat(locale, options))
