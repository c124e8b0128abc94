import { defineStore } from 'pinia'
import { listenTo } from '@/api/authorized'
import { data, own } from '@/api/client'
import { ApiError } from '@/api/errors'
import { makeEntrance } from './entrance'
import { holds, type Where } from './permissions'
import { makePerson } from './person'
import { confirmed, timesProven } from './proof'
import { load, onChangeElsewhere } from './tokens'

export type { Where } from './permissions'
export type { Myself } from './person'

/** Who is signed in, and what they may do. Specification, section 5, items 6 and 7. */
export const useSession = defineStore('session', () => {
  const person = makePerson(restore)
  const { user, ended } = person.state

  /** One of them is enough; a code may be a pattern `module.*`; an empty list is satisfied. The server has the last word. */
  const hasAnyPermission = (codes: readonly string[], where?: Where): boolean =>
    user.value !== null && holds(user.value, codes, where)
  /** Without `where` it is enough to hold it in some store. */
  const hasPermission = (code: string, where?: Where): boolean => hasAnyPermission([code], where)

  /** At load, and when another tab changed something: who the kept token belongs to. Does not throw. */
  async function restore(): Promise<void> {
    const tokens = load()
    if (!tokens) return
    try {
      const found = await data(own.GET('/api/v1/auth/me'))
      const present = load()
      // Meanwhile the user signed out, or another one in: that has an event of its own.
      if (present?.signIn === tokens.signIn) person.become(found, present)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.isSignedOut) person.over(tokens.signIn)
      // Whoever is at work goes on with what is in sight, and who was comes back to it.
      else if (!person.isOf(tokens.signIn)) person.recall(tokens, error)
    }
  }

  let asking = false
  async function forbidden(): Promise<void> {
    if (asking || !user.value) return
    asking = true
    await restore().finally(() => (asking = false))
  }

  listenTo({
    over: person.over,
    isAway: () => ended.value,
    present: person.present,
    who: () => user.value?.id,
    forbidden: () => void forbidden(),
    confirmed,
    timesProven,
  })
  onChangeElsewhere((tokens) => {
    if (!tokens) person.goneElsewhere()
    else if (person.isOf(tokens.signIn)) person.renew(tokens)
    else void restore()
  })

  return { ...person.state, hasPermission, hasAnyPermission, restore, ...makeEntrance(person) }
})
