import { createI18n } from 'vue-i18n'

/** All texts of the client, by language and room: src/texts/en/ROOM.ts. A room's texts come with the first of its files. */
export const i18n = createI18n({
  legacy: false,
  locale: 'en',
  fallbackLocale: 'en',
  messages: { en: {} },
  missingWarn: false,
  fallbackWarn: false,
})

/** What a text is filled with, by the names between its braces. */
export type Named = Record<string, string | number>

/**
 * The texts of a room. `t('title')`; `t('greeting', { name })`; `t('stores', { n }, n)` for one that is written
 * `no stores | one store | {n} stores`. Reads the language at each call, so it is called where a text is shown, and not
 * once for a module.
 */
export function room<Texts extends Readonly<Record<string, string>>>(name: string, en: Texts) {
  i18n.global.mergeLocaleMessage('en', { [name]: en })
  return (key: keyof Texts & string, named: Named = {}, plural?: number): string =>
    plural === undefined ? i18n.global.t(`${name}.${key}`, named) : i18n.global.t(`${name}.${key}`, named, plural)
}
