import type { Schemas } from '@/api/client'
import { t } from '@/texts/session'

/**
 * Passkeys in the browser. Headquarters sends and takes JSON, the browser takes and gives bytes. What translates between them
 * is here, since some of the browsers that show this client have no `parseRequestOptionsFromJSON` and no `toJSON` yet.
 */

export type PasskeyRequest = PublicKeyCredentialRequestOptionsJSON
export type PasskeyCreation = PublicKeyCredentialCreationOptionsJSON
/** As headquarters takes them: described as objects; their insides are those of the browsers' standard. */
export type PasskeyAnswer = NonNullable<Schemas['Login']['passkey']>
export type NewPasskey = Schemas['NewCredential']['credential']

/** Why no passkey can be used or made on this page, in words; null when one can. */
export function passkeysMissing(): string | null {
  if (!window.isSecureContext) {
    return t('passkeysNeedHttps', { address: location.origin })
  }
  // The browser ties a passkey to a name, and takes no address in its place.
  if (/^[\d.]+$|^\[/.test(location.hostname)) {
    return t('passkeysNeedName', { address: location.hostname })
  }
  return 'PublicKeyCredential' in window ? null : t('noPasskeys')
}

/** Has the browser ask for a passkey; what headquarters takes of it. */
export async function usePasskey(asked: PasskeyRequest): Promise<PasskeyAnswer> {
  const { challenge, allowCredentials, extensions, ...rest } = asked
  const publicKey = {
    ...rest,
    challenge: bytesOf(challenge),
    allowCredentials: allowCredentials?.map(described),
    extensions: extensions as AuthenticationExtensionsClientInputs | undefined,
  } as PublicKeyCredentialRequestOptions
  const credential = await given(navigator.credentials.get({ publicKey }))
  const response = credential.response as AuthenticatorAssertionResponse
  const answer = {
    ...commonOf(credential),
    response: {
      authenticatorData: textOf(response.authenticatorData),
      clientDataJSON: textOf(response.clientDataJSON),
      signature: textOf(response.signature),
      ...(response.userHandle && { userHandle: textOf(response.userHandle) }),
    },
  }
  return answer as unknown as PasskeyAnswer
}

/** Has the browser make a passkey; what headquarters keeps of it. */
export async function makePasskey(asked: PasskeyCreation): Promise<NewPasskey> {
  const { challenge, user, excludeCredentials, extensions, ...rest } = asked
  const publicKey = {
    ...rest,
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    excludeCredentials: excludeCredentials?.map(described),
    extensions: extensions as AuthenticationExtensionsClientInputs | undefined,
  } as PublicKeyCredentialCreationOptions
  const credential = await given(navigator.credentials.create({ publicKey }))
  const response = credential.response as AuthenticatorAttestationResponse
  const made = {
    ...commonOf(credential),
    response: {
      attestationObject: textOf(response.attestationObject),
      clientDataJSON: textOf(response.clientDataJSON),
      transports: response.getTransports(),
    },
  }
  return made as unknown as NewPasskey
}

const WORDS: Readonly<Record<string, Parameters<typeof t>[0]>> = {
  NotAllowedError: 'passkeyCancelled',
  AbortError: 'passkeyCancelled',
  InvalidStateError: 'passkeyThere',
  SecurityError: 'passkeyRefused',
  NotSupportedError: 'passkeyUnfit',
  ConstraintError: 'passkeyUnfit',
}

/** What the browser refused with, in words; any other error as it is. */
export function passkeyError(error: unknown): unknown {
  const words = error instanceof DOMException ? WORDS[error.name] : undefined
  return words ? new Error(t(words)) : error
}

async function given(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await asked
  if (!credential) throw new DOMException('nothing was given', 'NotAllowedError')
  return credential as PublicKeyCredential
}

const commonOf = (credential: PublicKeyCredential) => ({
  id: credential.id,
  rawId: textOf(credential.rawId),
  type: credential.type,
  clientExtensionResults: credential.getClientExtensionResults(),
})

const described = ({ id, ...rest }: PublicKeyCredentialDescriptorJSON) => ({ ...rest, id: bytesOf(id) })

/** Of base64url, as everything is written that is bytes. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0))
}

function textOf(bytes: ArrayBuffer): string {
  const letters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('')
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
