import { data, done, open, api } from '@/api/client'
import type { Person } from './person'
import { browserKey, keepBrowserKey } from './browser'
import { newSignIn, save, tokensOf } from './tokens'

/** How somebody comes in and goes. */
export function makeEntrance(person: Person) {
  const { user, ended } = person.state

  async function signIn(username: string, pin: string): Promise<void> {
    const params = { header: { 'Tillkeep-Device': browserKey() } }
    const answer = await data(open.POST('/api/v1/auth/login', { params, body: { username, pin } }))
    keepBrowserKey(answer.deviceKey)
    const tokens = tokensOf(answer, newSignIn())
    save(tokens)
    ended.value = false
    person.become(answer.user ?? (await data(api.GET('/api/v1/auth/me'))), tokens)
  }

  /** Gone from this browser at once; HQ is told when it can be. */
  async function signOut(): Promise<void> {
    const told = done(api.POST('/api/v1/auth/logout')).catch(() => {
      // The token ends by itself.
    })
    // The request has its token by now: that is read at once.
    person.forget()
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, 1000))])
  }

  /** Every session of somebody ends when their PIN changes; this one goes on with the new PIN. */
  async function changePin(currentPin: string, newPin: string): Promise<void> {
    const username = user.value?.username ?? ''
    await done(api.POST('/api/v1/auth/change-pin', { body: { currentPin, newPin } }))
    try {
      await signIn(username, newPin)
    } catch (error) {
      person.forget()
      throw error
    }
  }

  return { signIn, signOut, changePin }
}
