import type { Schemas } from '@/api/client'
import { isRefused } from '@/api/errors'
import { confirmed } from '@/composables/useConfirm'
import { nameOf } from './names'
import { t } from './texts'

interface Candidate {
  customerNumber: string
  firstName: string | null
  lastName: string | null
  companyName: string | null
}

type Draft = Schemas['CustomerDraft']

/** Creates a customer. Where one with the same telephone number or mail address is there, a person says whether it is another. */
export async function createOnce(create: (draft: Draft) => Promise<unknown>, draft: Draft): Promise<void> {
  try {
    await create(draft)
  } catch (error) {
    if (!isRefused(error, 'possible_duplicate')) throw error
    const known = (error.more.candidates as Candidate[]).map((one) => `${one.customerNumber} ${nameOf(one)}`)
    const isAnother = await confirmed({
      title: t('isAnother'),
      text: t('known', { customers: known.join(', ') }),
      action: t('yesAnother'),
    })
    if (!isAnother) throw error
    await create({ ...draft, allowDuplicate: true })
  }
}
