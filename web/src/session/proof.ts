import { shallowRef } from 'vue'
import { data, own } from '@/api/client'
import { t } from '@/texts/session'
import { challengeOf, type Challenge, type Step } from './secondStep'

/** That it is really who signed in, shown once more. */
export interface Proof {
  title: string
  about: string
  /** Asks headquarters what it wants to see. */
  begin: () => Promise<Challenge>
  take: (step: Step) => Promise<unknown>
  answer: (isGiven: boolean) => void
}

/** The proof that is asked for now; shown by the frame of all pages. */
export const proof = shallowRef<Proof | null>(null)

let asked: Promise<boolean> | null = null
let times = 0

/** How often it was given: what was refused before the last time need not ask again. */
export const timesProven = (): number => times

/** Asks for it: once, however many wait for it at the same time. */
export function proven(ask: Omit<Proof, 'answer'>): Promise<boolean> {
  asked ??= new Promise((resolve) => {
    proof.value = {
      ...ask,
      answer: (isGiven) => {
        proof.value = null
        asked = null
        if (isGiven) times += 1
        resolve(isGiven)
      },
    }
  })
  return asked
}

/** What headquarters asks for wherever only a user who has just shown that it is them may do something. */
export const confirmed = (): Promise<boolean> =>
  proven({
    title: t('confirmTitle'),
    about: t('confirmAbout'),
    begin: confirmation,
    take: (step) => data(own.POST('/api/v1/auth/confirm', { body: step })),
  })

async function confirmation(): Promise<Challenge> {
  try {
    await data(own.POST('/api/v1/auth/confirm', { body: {} }))
  } catch (error) {
    const challenge = challengeOf(error)
    if (challenge) return challenge
    throw error
  }
  throw new Error(t('nothingAsked'))
}
