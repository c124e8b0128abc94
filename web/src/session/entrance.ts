import { api, data, done, open, own } from '@/api/client'
import { toast } from '@/composables/useToasts'
import { t } from '@/texts/session'
import type { Person } from './person'
import { browserKey, keepBrowserKey } from './browser'
import { proven } from './proof'
import { challengeOf, type Step } from './secondStep'
import { newSignIn, save, tokensOf } from './tokens'

/** How a user comes in and goes. */
export function makeEntrance(person: Person) {
  const { user } = person.state

  /** Throws what HQ asks for besides, where a name and a PIN are not enough; the same with the answer to it signs in. */
  async function signIn(username: string, pin: string, step?: Step): Promise<void> {
    const params = { header: { 'Tillkeep-Device': browserKey() } }
    const answer = await data(open.POST('/api/v1/auth/login', { params, body: { username, pin, ...step } }))
    keepBrowserKey(answer.deviceKey)
    const tokens = tokensOf(answer, newSignIn())
    save(tokens)
    person.become(answer.user ?? (await data(own.GET('/api/v1/auth/me'))), tokens)
  }

  /** Gone from this browser at once; HQ is asked when it can be. */
  async function signOut(): Promise<void> {
    const sent = done(own.POST('/api/v1/auth/logout')).catch(() => {
      // The token ends by itself.
    })
    // The request has its token by now: that is read at once.
    person.forget()
    await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 1000))])
  }

  /** To the sign-in page, from the page whose user's sign-in has ended. */
  const leave = (): void => person.forget()

  /** Every session of a user ends when their PIN changes; this one goes on with the new PIN. */
  async function changePin(currentPin: string, newPin: string): Promise<void> {
    const username = user.value?.username ?? ''
    await done(api.POST('/api/v1/auth/change-pin', { body: { currentPin, newPin } }))
    try {
      await signInAgain(username, newPin)
    } catch (error) {
      person.forget()
      throw error
    }
  }

  async function signInAgain(username: string, pin: string): Promise<void> {
    try {
      await signIn(username, pin)
    } catch (error) {
      const challenge = challengeOf(error)
      if (!challenge) throw error
      const isGiven = await proven({
        title: t('newPinTitle'),
        about: t('newPinAbout'),
        begin: () => Promise.resolve(challenge),
        take: (step) => signIn(username, pin, step),
      })
      if (isGiven) return
      toast(t('newPinLater'))
      throw error
    }
  }

  return { signIn, signOut, leave, changePin }
}
