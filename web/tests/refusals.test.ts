import { describe, expect, it } from 'vitest'
import { CODES } from '@/api/codes'
import { ApiError, isRefused, refusal, unreachable, wordsOfAction, type Code } from '@/api/errors'
import { refused, unauthorized } from './kit'

async function of(response: Response): Promise<ApiError> {
  return refusal(response, await response.json().catch(() => null))
}

describe('a refusal', () => {
  it.each(Object.entries(CODES))('with code %s means what the description says of it', async (code, meaning) => {
    // Not by its status: that of a gateway says the opposite.
    for (const status of [meaning.status, 404, 502]) {
      const error = await of(refused(status, code))
      expect(isRefused(error, code as Code)).toBe(true)
      expect([error.mayBeRetried, error.mayHaveHappened]).toEqual([meaning.mayBeRetried, meaning.mayHaveHappened])
    }
  })

  it.each([
    [400, false, false],
    [404, false, false],
    [408, true, false],
    [413, false, false],
    [429, true, false],
    [500, true, true],
    [502, true, true],
    [503, true, true],
    [504, true, true],
  ])('with %d and no code that is known here goes by its status', async (status, again, happened) => {
    const answers = [new Response('<html>a proxy</html>', { status }), refused(status, 'of_a_newer_release')]
    for (const answer of answers) {
      const error = await of(answer)
      expect([error.mayBeRetried, error.mayHaveHappened]).toEqual([again, happened])
    }
  })

  it('that never came may have been done', () => {
    const error = unreachable(new TypeError('no line'))
    expect([error.mayBeRetried, error.mayHaveHappened]).toEqual([true, true])
  })

  it('ends the sign-in when it is of the token, and not when a PIN was wrong', async () => {
    expect((await of(unauthorized())).isSignedOut).toBe(true)
    expect((await of(new Response('a portal', { status: 401 }))).isSignedOut).toBe(true)
    expect((await of(refused(401, 'token_reused'))).isSignedOut).toBe(true)
    expect((await of(refused(401, 'invalid_credentials'))).isSignedOut).toBe(false)
    expect((await of(refused(403, 'forbidden'))).isSignedOut).toBe(false)
  })

  it('of an action says that it may have been done, where that is so', async () => {
    const look = 'It may have been done all the same: look before you do it again.'
    expect(wordsOfAction(await of(refused(500, 'internal')))).toBe(`words of internal ${look}`)
    expect(wordsOfAction(await of(refused(409, 'version_conflict')))).toBe('words of version_conflict')
    expect(wordsOfAction(new Error('no such field'))).toBe('no such field')
  })
})
