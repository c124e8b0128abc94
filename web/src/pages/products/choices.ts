import { all, api, page, type Page } from '@/api/client'
import { useSession } from '@/session/store'
import { t } from './texts'

export interface Choice {
  value: string
  label: string
}

interface Named {
  id: string
  code: string
  name: string
}

/** Rows as options. Who may not see them has none, and keeps what a product has. */
async function named<T extends Named>(
  needs: readonly string[],
  fetchPage: (number: number) => Promise<Page<T>>,
): Promise<T[]> {
  return useSession().hasAnyPermission(needs) ? all(fetchPage) : []
}

const option = ({ id, code, name }: Named): Choice => ({ value: id, label: t('named', { name, code }) })
const query = (number: number) => ({ page: number, pageSize: 200, sort: 'name' })

/** What reading tax groups needs, without which no product can be made. */
const SEES_TAXES = ['taxes.view', 'pos.sell']

export const seesTaxes = () => useSession().hasAnyPermission(SEES_TAXES)

/** Products are the same in all stores, and writing them needs the code in all of them. */
export const mayWrite = (action: 'create' | 'edit' | 'delete') =>
  useSession().hasPermission(`products.${action}`, 'everywhere')

export async function departmentChoices(): Promise<Choice[]> {
  const rows = await named(['products.view', 'pos.sell'], (number) =>
    page(api.GET('/api/v1/departments', { params: { query: query(number) } })),
  )
  return rows.map(option)
}

export async function taxGroupChoices(): Promise<{ options: Choice[]; usual: string | undefined }> {
  const rows = await named(SEES_TAXES, (number) =>
    page(api.GET('/api/v1/tax-groups', { params: { query: query(number) } })),
  )
  return { options: rows.map(option), usual: rows.find(({ isDefault }) => isDefault)?.id }
}

/** Suppliers by their names; none for who may not see them. */
export async function supplierChoices(): Promise<Choice[]> {
  const rows = await named(['suppliers.view'], (number) =>
    page(api.GET('/api/v1/suppliers', { params: { query: query(number) } })),
  )
  return rows.map(option)
}

/** With what is chosen already, even when it cannot be seen or is gone. */
export function withChosen(options: readonly Choice[], chosen: string | null | undefined): readonly Choice[] {
  if (!chosen || options.some(({ value }) => value === chosen)) return options
  return [...options, { value: chosen, label: t('asItIs') }]
}
