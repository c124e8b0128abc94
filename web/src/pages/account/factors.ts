import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { words } from '@/format/labels'
import { t } from './texts'

/** What the page of one's second factor says. */

export type Factors = Schemas['OwnFactors']
export type Factor = Factors['factors'][number]

const KINDS: Readonly<Record<string, 'passkey' | 'app'>> = { passkey: 'passkey', totp: 'app' }

/** A kind in words; one of a later release by its own. */
export function kindName(kind: string): string {
  const name = KINDS[kind]
  return name ? t(name) : words(kind)
}

/** What headquarters asks of whoever looks, in a sentence or two. */
export function whatIsAsked({ setting, required, factors }: Factors): {
  tone: Extract<Tone, 'good' | 'warn'> | ''
  text: string
} {
  if (setting === 'off') {
    return { tone: '', text: t('askedOfNone') }
  }
  if (factors.length > 0) {
    return { tone: 'good', text: t(required ? 'askedAndRequired' : 'askedOfYou') }
  }
  return { tone: 'warn', text: t(required ? 'required' : 'pinAlone') }
}

/** The sheet of recovery codes, to be copied, printed or kept as a file. */
export function recoverySheet(codes: readonly string[], username: string, address: string): string {
  return [
    t('sheetTitle'),
    '',
    t('sheetUser', { username }),
    t('sheetAddress', { address }),
    '',
    ...codes,
    '',
    t('sheetAbout'),
  ].join('\n')
}

/** A secret as people read it aloud or type it: in groups of four. */
export const inGroups = (secret: string): string => secret.match(/.{1,4}/g)?.join(' ') ?? secret

export const codesLeft = (left: number): string => t('codesLeft', { n: left }, left)
