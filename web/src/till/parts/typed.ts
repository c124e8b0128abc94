import { minorOf, plainNumber, type Marks } from '@/format/money'

/** What is wrong with a typed amount; `unclear` means that it can be read in two ways. */
export type Wrong = 'noAmount' | 'decimals' | 'unclear' | 'below'
export type Typed = { minor: number } | { wrong: Wrong }

/** One mark and three digits behind it. */
const ONE_MARK = /^\d{1,3}[.,]\d{3}$/

/**
 * The amount that somebody typed: `19.99`, `19,99`, `1 999,50`. In a currency without decimals each mark stands between
 * thousands. In one with three, `1,500` where the comma is a mark of thousands is not guessed: it is a thousandfold.
 */
export function typedAmount(typed: string, exponent: number, marks: Marks): Typed {
  const text = typed.trim()
  if (/^[-\u2212]/.test(text)) return { wrong: 'below' }
  if (ONE_MARK.test(text)) {
    if (exponent === 0) return { minor: Number(text.replace(/\D/g, '')) }
    const isOfThousands = text.includes(marks.group) && marks.group !== ''
    if (exponent === 3 && isOfThousands) return { wrong: 'unclear' }
  }
  const minor = minorOf(text, exponent, marks)
  if (minor !== null) return { minor }
  const decimals = /\.(\d+)$/.exec(plainNumber(text, marks) ?? '')?.[1]
  return { wrong: decimals && decimals.length > exponent ? 'decimals' : 'noAmount' }
}
