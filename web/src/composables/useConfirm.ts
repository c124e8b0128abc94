import { shallowRef } from 'vue'

export interface Question {
  title: string
  /** What happens then, in a sentence or two. */
  text: string
  /** The word on the button that does it. */
  action: string
  danger?: boolean
  answer: (yes: boolean) => void
}

/** The question that is open now; shown by the frame of all pages. */
export const question = shallowRef<Question | null>(null)

/** Asks before something that is hard to undo. */
export function confirmed(ask: Omit<Question, 'answer'>): Promise<boolean> {
  question.value?.answer(false)
  return new Promise((resolve) => {
    question.value = {
      ...ask,
      answer: (yes) => {
        question.value = null
        resolve(yes)
      },
    }
  })
}
