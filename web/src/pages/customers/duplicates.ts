import type { Schemas } from '@/api/client'
import { isRefused } from '@/api/errors'
import { confirmed } from '@/composables/useConfirm'

interface Candidate {
  customerNumber: string
  firstName: string | null
  lastName: string | null
  companyName: string | null
}

type Named = Pick<Candidate, 'firstName' | 'lastName' | 'companyName'>

/** What a customer is called: a person, else a company. */
export const nameOf = ({ firstName, lastName, companyName }: Named): string =>
  [firstName, lastName].filter(Boolean).join(' ') || companyName || 'Without a name'

type Draft = Schemas['CustomerDraft']

/** Creates a customer. Where one with the same telephone number or mail address is there, a person says whether it is another. */
export async function createOnce(create: (draft: Draft) => Promise<unknown>, draft: Draft): Promise<void> {
  try {
    await create(draft)
  } catch (error) {
    if (!isRefused(error, 'possible_duplicate')) throw error
    const known = (error.more.candidates as Candidate[]).map((one) => `${one.customerNumber} ${nameOf(one)}`)
    const isAnother = await confirmed({
      title: 'Is this another customer?',
      text: `The same telephone number or mail address has: ${known.join(', ')}.`,
      action: 'Yes, another one',
    })
    if (!isAnother) throw error
    await create({ ...draft, allowDuplicate: true })
  }
}
