import { t } from './texts'

interface Named {
  firstName?: string | null
  lastName?: string | null
  companyName?: string | null
}

/** What a customer is called: a person, else a company. */
export const nameOf = ({ firstName, lastName, companyName }: Named): string =>
  [firstName, lastName].filter(Boolean).join(' ') || companyName || t('unnamed')
