import type { Schemas } from '@/api/shop/client'
import { amountIn } from '@/composables/amounts'
import type { Field, Fields } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { partOf, textOf, type Sent } from '@/format/sent'
import { t } from './texts'

/** What is asked of a register and of its printer, and how that is sent. */

type Printer = NonNullable<Schemas['RegisterDraft']['printer']>
type CodePage = Printer['codePage']

const CODE_PAGES = [
  ...['PC437', 'PC850', 'PC852', 'PC857', 'PC858', 'PC860', 'PC863', 'PC865', 'PC866', 'PC737', 'WPC775'],
  ...['ISO8859_2', 'ISO8859_7', 'ISO8859_15'],
  ...['WPC1250', 'WPC1251', 'WPC1252', 'WPC1253', 'WPC1254', 'WPC1257'],
] as const satisfies readonly CodePage[]
const WIDTHS = ['32', '42', '48']

export interface Typed {
  code: string
  name: string
  terminalId: string
  defaultFloat?: number
  isActive?: boolean
  enroll?: boolean
  deviceName?: string
  address?: string
  width?: string
  codePage?: string
  opensDrawer?: boolean
  automatic?: boolean
}

const printerFields = (): Field[] => [
  {
    key: 'address',
    label: t('printerAddress'),
    kind: 'text',
    help: t('printerAddressHelp'),
    section: t('printer'),
    rule: {
      maxLength: 260,
      pattern: '^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]):[1-9][0-9]{0,4}$',
      says: t('addressSays'),
    },
  },
  {
    key: 'width',
    label: t('printerWidth'),
    kind: 'select',
    help: t('printerWidthHelp'),
    section: t('printer'),
    required: true,
    options: WIDTHS.map((value) => ({ value, label: value })),
  },
  {
    key: 'codePage',
    label: t('codePage'),
    kind: 'select',
    help: t('codePageHelp'),
    section: t('printer'),
    required: true,
    options: CODE_PAGES.map((value) => ({ value, label: value })),
  },
  { key: 'opensDrawer', label: t('opensDrawer'), kind: 'switch', section: t('printer') },
  { key: 'automatic', label: t('automatic'), kind: 'switch', help: t('automaticHelp'), section: t('printer') },
]

/** Of a new register, or of one that is there: its code stays what receipts were numbered with. */
export function registerFields(isNew: boolean, currency: Currency): Fields<Typed, Partial<Typed>> {
  return [
    ...(isNew
      ? [
          {
            key: 'code',
            label: t('code'),
            kind: 'text' as const,
            required: true,
            help: t('codeHelp'),
            rule: { pattern: '^[0-9]{2}$', says: t('codeSays') },
          },
        ]
      : []),
    { key: 'name', label: t('name'), kind: 'text', required: true, rule: { maxLength: 100 } },
    {
      key: 'terminalId',
      label: t('terminal'),
      kind: 'text',
      required: true,
      help: t('terminalHelp'),
      rule: { maxLength: 100 },
    },
    {
      key: 'defaultFloat',
      label: t('defaultFloat'),
      ...amountIn(currency, t('defaultFloatHelp')),
      rule: { minimum: 0 },
    },
    ...(isNew
      ? [
          { key: 'enroll', label: t('enrolNow'), kind: 'switch' as const, help: t('enrolNowHelp') },
          { key: 'deviceName', label: t('deviceName'), kind: 'text' as const, rule: { maxLength: 100 } },
        ]
      : [{ key: 'isActive', label: t('active'), kind: 'switch' as const, help: t('activeHelp') }]),
    ...printerFields(),
  ]
}

export const NEW_REGISTER = { width: '42', codePage: 'PC858', opensDrawer: true, automatic: true, enroll: false }

/** A register as its form shows it. */
export function typedOf(register: Schemas['Register']): Typed {
  const printer = partOf(register as unknown as Sent, 'printer')
  return {
    code: register.code,
    name: register.name,
    terminalId: register.terminalId,
    defaultFloat: register.defaultFloat ?? undefined,
    isActive: register.isActive,
    address: textOf(printer, 'address') ?? undefined,
    width: String(printer.width ?? NEW_REGISTER.width),
    codePage: textOf(printer, 'codePage') ?? NEW_REGISTER.codePage,
    opensDrawer: printer.opensDrawer === true,
    automatic: printer.automatic === true,
  }
}

const PRINTER_KEYS = ['address', 'width', 'codePage', 'opensDrawer', 'automatic'] as const

/** The printer of what was typed; null where its address is empty, which takes it away. */
export function printerOf(typed: Partial<Typed>): Printer | null {
  if (!typed.address) return null
  return {
    address: typed.address,
    width: Number(typed.width ?? NEW_REGISTER.width),
    codePage: (typed.codePage ?? NEW_REGISTER.codePage) as CodePage,
    opensDrawer: typed.opensDrawer ?? false,
    automatic: typed.automatic ?? false,
  }
}

export function draftOf(id: string, typed: Typed): Schemas['RegisterDraft'] {
  const { code, name, terminalId, defaultFloat, enroll, deviceName } = typed
  const printer = printerOf(typed)
  const device = enroll ? { enroll, ...(deviceName ? { deviceName } : {}) } : {}
  return { id, code, name, terminalId, defaultFloat, ...device, ...(printer ? { printer } : {}) }
}

/** What differs; the printer is sent whole, as the store keeps it. */
export function changeOf(before: Typed, change: Partial<Typed>): Record<string, unknown> {
  const rest = Object.entries(change).filter(([key]) => !(PRINTER_KEYS as readonly string[]).includes(key))
  const isOther = PRINTER_KEYS.some((key) => key in change)
  const printer = isOther ? { printer: printerOf({ ...before, ...change }) } : {}
  return { ...Object.fromEntries(rest), ...printer }
}
