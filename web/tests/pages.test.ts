import { expect, it } from 'vitest'
import { makeRouter } from '@/router'
import guards from '../e2e/guards.spec.ts?raw'
import pages from '../e2e/kit/pages.ts?raw'

/** Pages that a walk of their own leads to: what must be done first, and documents that are made there. */
const FIRST = ['change-pin', 'second-factor']
const DOCUMENTS = ['sale', 'drawer', 'z-report', 'zz-report']
/** Pages that nothing is needed for, so that no role is held against them. */
const OPEN = new Set(['login', 'unauthorized', 'home', 'lost', 'not-found'])

/** The paths that a test names, with one word for each value in them. */
const named = (test: string) => new Set([...test.matchAll(/path: '([^'?]+)/g)].map(([, path]) => shape(path!)))
const shape = (path: string) => path.replace(/:\w+(\([^)]*\))?/g, ':')

it.each([
  ['roles', guards, [...FIRST, ...DOCUMENTS]],
  // Without what opens over them.
  ['axe, a phone, dark colours and long names', pages.split('DIALOGS')[0]!, FIRST],
])('every page is held against %s', (_what, test, elsewhere) => {
  const names = named(test)
  const missing = makeRouter()
    .getRoutes()
    .filter(({ name, redirect }) => name && !redirect)
    .filter(({ name }) => !elsewhere.includes(String(name)) && !OPEN.has(String(name)))
    .filter(({ path }) => !names.has(shape(path)))
  expect(missing.map(({ path }) => path)).toEqual([])
})
