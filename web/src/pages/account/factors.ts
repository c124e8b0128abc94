import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { plural } from '@/format/money'

/** What the page of one's second factor says. */

export type Factors = Schemas['OwnFactors']
export type Factor = Factors['factors'][number]

export const KINDS: Readonly<Record<string, string>> = { passkey: 'Passkey', totp: 'Authenticator app' }

/** What headquarters asks of whoever looks, in a sentence or two. */
export function whatIsAsked({ setting, required, factors }: Factors): {
  tone: Extract<Tone, 'good' | 'warn'> | ''
  text: string
} {
  if (setting === 'off') {
    return {
      tone: '',
      text: 'Headquarters asks no user for a second factor now. What you set up here is asked for once that is switched on.',
    }
  }
  if (factors.length > 0) {
    const removal = required ? ' You must have one, since your rights reach beyond one store.' : ''
    return { tone: 'good', text: `Whoever signs in here as you needs your PIN and one of these.${removal}` }
  }
  if (required) {
    return {
      tone: 'warn',
      text: 'Your rights reach beyond one store, so you must have a second factor. Nothing else opens before you set one up.',
    }
  }
  return {
    tone: 'warn',
    text: 'Your PIN alone signs you in here, and whoever sees you type it is you. With a second factor they need more than that.',
  }
}

/** The sheet of recovery codes, to be copied, printed or kept as a file. */
export function recoverySheet(codes: readonly string[], username: string, address: string): string {
  return [
    'Recovery codes for Tillkeep',
    '',
    `User name: ${username}`,
    `Address: ${address}`,
    '',
    ...codes,
    '',
    'Each signs you in once with your PIN when your app or passkey is not at hand. Keep them where no one else reads them.',
  ].join('\n')
}

/** A secret as people read it aloud or type it: in groups of four. */
export const inGroups = (secret: string): string => secret.match(/.{1,4}/g)?.join(' ') ?? secret

export const codesLeft = (left: number): string =>
  left === 0 ? 'None is left. Make new ones before you need one.' : `${plural(left, 'code')} left.`
