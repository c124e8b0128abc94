/** What of a literal is for people: words that are read, and not names that programs compare. */

/** A word as it stands in a sentence, with what is around it. */
const WORD = /^[("“‘'«[]*\p{L}[\p{L}’'-]*[)"”’'»\]]*[.,:;!?…]*$/u
/** One word alone that begins a label: `Save`, `Name:`. Names of programs have capitals or signs inside. */
const LABEL = /^[("“]*\p{Lu}\p{Ll}+[)"”]*[.,:;!?…]*$/u
/** Where something is filled in. */
export const GAP = '{}'

/** `[contenteditable]`, `[type=radio]`: of a selector. */
const ATTRIBUTE = /\[[a-z-]+(=[^\]]+)?\]/

const isWord = (part: string): boolean => part.length > 1 && WORD.test(part) && part !== part.toUpperCase()

/** Whether a text reads as words wherever it stands: a sentence, several words, or one that begins like a label. */
export function reads(text: string): boolean {
  if (ATTRIBUTE.test(text)) return false
  const parts = text.trim().split(/\s+/)
  if (parts.length === 1) return LABEL.test(parts[0]!)
  const words = parts.filter(isWord).length
  return words > 1 || (words === 1 && parts.some((part) => part.includes(GAP)))
}

/** Whether a text that is shown has anything to translate. */
export const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text)
