import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { words } from '@/format/labels'
import { kindName, KINDS, shortOf } from '@/pages/alerts/kinds'
import { speak } from '@/texts/languages'

const description = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/generated/openapi-hq.json'), 'utf8'),
) as { components: { schemas: { AlertKind: { enum: string[] } } } }

describe('the kinds of alerts', () => {
  it('are those of headquarters', () => {
    expect([...KINDS].toSorted()).toEqual(description.components.schemas.AlertKind.enum.toSorted())
  })

  it('of another release are said by their own words', () => {
    expect(kindName('roof_leaks')).toBe('Roof leaks')
  })

  describe('in German', () => {
    beforeAll(() => speak('de'))
    afterAll(() => speak('en'))

    it.each(KINDS)('have words: %s', (kind) => {
      expect(kindName(kind)).not.toBe(words(kind))
    })
  })
})

it('an address is named without what may be a key of its receiver', () => {
  expect(shortOf('https://chat.example.com:8443/hooks/T0/secret?key=1')).toBe('chat.example.com:8443')
  expect(shortOf('nothing')).toBe('nothing')
})
