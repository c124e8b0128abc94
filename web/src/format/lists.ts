import { i18n } from '@/texts'

const listed = (type: Intl.ListFormatType, words: readonly string[]): string =>
  new Intl.ListFormat(i18n.global.locale.value, { type }).format(words)

/** `S01 or S02`, in the language of the page. */
export const either = (words: readonly string[]): string => listed('disjunction', words)
