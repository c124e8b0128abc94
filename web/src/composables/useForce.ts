import { ApiError, type Code } from '@/api/errors'
import { t } from '@/texts/forms'
import { confirmed } from './useConfirm'

/** What headquarters warns of, which a person may want all the same; and how they are asked. */
const WARNINGS: Partial<Record<Code, () => { title: string; action: string }>> = {
  below_min_price: () => ({ title: t('belowMinPrice'), action: t('saveAllTheSame') }),
  bad_check_digit: () => ({ title: t('badCheckDigit'), action: t('keepAllTheSame') }),
}

/** Asks to be warned, and when that is answered with a warning, sends once more with `force` where a person says so. Else it stays refused. */
export async function unlessWarned<T>(send: (more: { force: boolean }) => Promise<T>): Promise<T> {
  try {
    return await send({ force: false })
  } catch (error) {
    const warning = error instanceof ApiError ? WARNINGS[error.code as Code] : undefined
    if (!(error instanceof ApiError) || !warning) throw error
    const said = [error.message, ...error.details.map(({ field, message }) => `${field} ${message}`)]
    if (!(await confirmed({ ...warning(), text: [...new Set(said)].join(' ') }))) throw error
    return send({ force: true })
  }
}
