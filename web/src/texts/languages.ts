import { ref, shallowRef } from 'vue'
import { i18n } from '.'

/** The languages of the pages. A language has one list of rooms for each entry, which comes before the first page. */

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** Texts by room and key. */
export type Rooms = Readonly<Record<string, Readonly<Record<string, string>>>>
type Lists = Partial<Record<Language, () => Promise<{ default: Rooms }>>>

const KEPT = 'tillkeep.language'

/** What the page speaks. */
export const language = ref<Language>('en')
/** Whether somebody chose that here; else it is what is nearest to the languages of the browser. */
export const isChosen = ref(false)
/** What it can be told to speak: English, and each language whose list is complete for this entry. */
export const spoken = shallowRef<readonly Language[]>(['en'])

let lists: Lists = {}
const loaded = new Set<Language>(['en'])

/** Says, once, where the texts of this entry are in other languages. Only for lists that are complete: tests/german.test.ts. */
export function offer(more: Lists): void {
  lists = more
  spoken.value = LANGUAGES.filter((name) => name === 'en' || name in more)
}

/** What was chosen on this browser, else the first of the browser's own that is spoken here, else English. */
export function wanted(): Language {
  const chosen = kept()
  if (chosen && spoken.value.includes(chosen)) return chosen
  const own = navigator.languages.map((tag) => tag.split('-')[0])
  return own.map((name) => spoken.value.find((known) => known === name)).find((known) => known !== undefined) ?? 'en'
}

/**
 * From now on the page speaks it, as soon as its texts are there. Where they do not come, as when the server is away, it
 * goes on in the language that it has.
 */
export async function speak(named?: Language): Promise<void> {
  const name = named ?? wanted()
  if (!loaded.has(name)) {
    try {
      const rooms = (await lists[name]?.())?.default
      if (!rooms) return
      i18n.global.setLocaleMessage(name, rooms as never)
      loaded.add(name)
    } catch {
      return
    }
  }
  language.value = name
  isChosen.value = named !== undefined || kept() === name
  i18n.global.locale.value = name as typeof i18n.global.locale.value
  document.documentElement.lang = name
}

/** Longer than this no page waits for its texts. */
const SOON_MS = 1000

/** Speaks what is wanted; resolves when it does, or when that takes too long for a page that shows nothing yet. */
export async function speakSoon(): Promise<void> {
  await Promise.race([speak(), new Promise<void>((resolve) => setTimeout(resolve, SOON_MS))])
}

/** Speaks it, and remembers that for this browser. */
export async function chooseLanguage(name: Language): Promise<void> {
  try {
    localStorage.setItem(KEPT, name)
  } catch {
    // A browser that keeps nothing speaks it until the page is closed.
  }
  await speak(name)
}

/** `Deutsch` of `de`, as its own speakers call it. */
export const ownName = (name: Language): string => new Intl.DisplayNames(name, { type: 'language' }).of(name) ?? name

const isLanguage = (name: string | null | undefined): name is Language =>
  (LANGUAGES as readonly (string | null | undefined)[]).includes(name)

function kept(): Language | null {
  try {
    const name = localStorage.getItem(KEPT)
    return isLanguage(name) ? name : null
  } catch {
    return null
  }
}
