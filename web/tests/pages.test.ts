import { expect, it } from 'vitest'
import { makeRouter } from '@/router'
import guards from '../e2e/guards.spec.ts?raw'
import pages from '../e2e/pages.spec.ts?raw'

/** Pages that a walk of their own leads to: the document that they show is made there, and what must be done first. */
const OPENED_ELSEWHERE = new Set(['sale', 'drawer', 'change-pin', 'second-factor'])
/** Pages that nothing is needed for, so that no role is held against them. */
const OPEN = new Set(['login', 'unauthorized', 'home', 'lost', 'not-found'])

/** The paths that a test names, with one word for each value in them. */
const named = (test: string) => new Set([...test.matchAll(/path: '([^']+)'/g)].map(([, path]) => shape(path!)))
const shape = (path: string) => path.replace(/:\w+(\([^)]*\))?/g, ':')

it.each([
  ['roles', guards],
  ['axe, a phone and dark colours', pages],
])('every page is held against %s', (_what, test) => {
  const names = named(test)
  const missing = makeRouter()
    .getRoutes()
    .filter(({ name, redirect }) => name && !redirect)
    .filter(({ name }) => !OPENED_ELSEWHERE.has(String(name)) && !OPEN.has(String(name)))
    .filter(({ path }) => !names.has(shape(path)))
  expect(missing.map(({ path }) => path)).toEqual([])
})
