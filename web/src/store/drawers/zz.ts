import type { Schemas } from '@/api/shop/client'
import type { Fields } from '@/composables/fields'
import { fullDay } from '@/format/dates'
import { t } from './texts'

export type Zz = Schemas['Zz']

/** `ZZ 3 of register 02`; of the whole store `ZZ 3 of the store`. */
export const zzName = ({ registerCode, zzNumber: n }: Pick<Zz, 'registerCode' | 'zzNumber'>): string =>
  registerCode ? t('zzOfRegister', { n, register: registerCode }) : t('zzOfStore', { n })

export const daysOf = ({ fromDate, toDate }: Pick<Zz, 'fromDate' | 'toDate'>): string =>
  fromDate === toDate ? fullDay(fromDate) : t('fromTo', { from: fullDay(fromDate), to: fullDay(toDate) })

/** In place of the id of a register. */
export const WHOLE = 'store'

export const zzFields = (registers: readonly { value: string; label: string }[]): Fields<{ of: string }> => [
  {
    key: 'of',
    label: t('zzOf'),
    kind: 'select',
    required: true,
    options: [{ value: WHOLE, label: t('wholeStore') }, ...registers],
  },
]

/** All drawers since the last one, of a register or of the store. */
export const zzRequest = (id: string, of: string): Schemas['ZzRequest'] =>
  of === WHOLE ? { id, scope: WHOLE } : { id, registerId: of }
