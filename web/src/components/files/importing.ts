import { api, data, type Schemas } from '@/api/client'
import { TABLE } from '@/api/line'
import { numberText } from '@/format/money'
import { t } from './texts'

/** The routes that take a table. */
export type ImportPath = '/api/v1/products/import' | '/api/v1/customers/import' | '/api/v1/store-prices/import'

/** What came of a file, or would come of it. */
export type Imported = Schemas['Imported']

/** What headquarters takes. */
export const MOST_MIB = 64
const MIB = 1024 * 1024

type Send = (path: string, init: object) => Promise<{ data?: { data: Imported }; response: Response }>

/** Sends a file; with `dryRun` everything is checked and nothing is written. */
export function sendTable(path: ImportPath, file: File, dryRun: boolean): Promise<Imported> {
  // The types of `api` know each route by its literal path.
  const { POST } = api as unknown as Record<'POST', Send>
  const headers = { 'content-type': TABLE }
  return data(POST(path, { params: { query: { dryRun } }, headers, body: file, bodySerializer: () => file }))
}

/** Why a file is not sent, with what to do about it. */
export function wrongWith({ name, size }: File): string | undefined {
  if (size === 0) return t('fileEmpty', { name })
  return size > MOST_MIB * MIB ? t('fileLarge', { name, most: MOST_MIB }) : undefined
}

/** What would come of a file, or came of it. */
export const countsOf = ({ created, updated, unchanged }: Imported): string =>
  t('counts', { created: numberText(created), updated: numberText(updated), unchanged: numberText(unchanged) })

/** Where in a file something is wrong. */
export const placeOf = ({ line, column }: Imported['errors'][number]): string =>
  column ? t('place', { line: numberText(line), column }) : t('placeOfRow', { line: numberText(line) })
