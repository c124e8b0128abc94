import { baseCompile } from '@intlify/message-compiler'
import { describe, expect, it } from 'vitest'
import { callsIn, keypaths, misfits, unusedKeys } from './literals/messages'
import { CATALOGUES } from './literals/sources'
import { room } from '@/texts'

describe('a text', () => {
  const t = room('x', {
    title: 'Sales',
    hello: 'Hello {name}',
    stores: 'no stores | one store | {n} stores',
    mail: "a{'@'}b",
  })

  it('is filled in, and has a form for each number', () => {
    expect(t('title')).toBe('Sales')
    expect(t('hello', { name: 'A' })).toBe('Hello A')
    expect(t('stores', { n: 0 }, 0)).toBe('no stores')
    expect(t('stores', { n: 1 }, 1)).toBe('one store')
    expect(t('stores', { n: '1,234' }, 1234)).toBe('1,234 stores')
    expect(t('mail')).toBe('a@b')
  })
})

const TEXTS = [...CATALOGUES].flatMap(([name, texts]) =>
  Object.entries(texts).map(([key, message]) => ({ name: `${name}.${key}`, message })),
)

describe('the catalogue', () => {
  it('has each text for something that is shown', () => {
    const unused = unusedKeys()
    expect(unused, `no file takes these:\n${unused.join('\n')}\n`).toHaveLength(0)
  })

  it('has what each sentence with links and codes inside names', () => {
    const missing = keypaths().filter(({ keypath }) => !TEXTS.some(({ name }) => name === keypath))
    expect(keypaths().length).toBeGreaterThan(0)
    expect(missing).toEqual([])
  })

  it('has texts that can be read, none of them empty', () => {
    const broken = TEXTS.filter(({ message }) => {
      const errors: unknown[] = []
      baseCompile(message, { onError: (error) => errors.push(error) })
      return errors.length > 0 || message.trim() === ''
    })
    expect(broken).toEqual([])
  })

  it('is given each name that stands in a text, and no other', () => {
    const wrong = misfits()
    expect(wrong, `these give other names than their texts have:\n${wrong.join('\n')}\n`).toHaveLength(0)
  })

  it('is looked for in scripts and templates', () => {
    const text =
      "<script setup lang=\"ts\">\nconst a = t('one', { n: 1, all })\n</script>\n<template>\n  <p :title=\"t('two')\">{{ t('three', { name }, 2) }}</p>\n</template>\n"
    expect(callsIn({ path: 'a.vue', text })).toEqual([
      { path: 'a.vue', line: 2, key: 'one', names: ['n', 'all'], isCounted: false },
      { path: 'a.vue', line: 5, key: 'two', names: [], isCounted: false },
      { path: 'a.vue', line: 5, key: 'three', names: ['name'], isCounted: true },
    ])
  })
})
