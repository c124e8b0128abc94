import type { Schemas } from '@/api/client'
import { ensureChain } from '@/composables/useChain'
import { t } from './texts'

type Address = Schemas['HeadquartersAddress']

const LOOPBACK = /(^|\.)localhost$|^127\.|^\[::1\]$/

/** The way that this browser came, which may be good on this machine alone. */
export function addressOf({ origin, hostname }: Pick<Location, 'origin' | 'hostname'>): Address {
  const warning = LOOPBACK.test(hostname) ? t('addressLocal', { url: origin }) : null
  return { url: origin, source: 'browser', warning }
}

/**
 * Where a colleague signs in: what headquarters knows of itself, which everybody may ask who is signed in. Where it knows
 * nothing, or does not say it, the way that this browser came; a PIN that is shown once does not wait for it.
 */
export async function signInAddress(): Promise<Address> {
  const known = await ensureChain().then(
    ({ address }) => address,
    () => null,
  )
  return known ?? addressOf(location)
}
