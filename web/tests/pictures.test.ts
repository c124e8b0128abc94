import { expect, it } from 'vitest'
import { makeRouter } from '@/router'
import { PICTURES } from '../screenshots/pictures'

/** The first page is another one for everybody; headquarters itself answers what is outside of its pages. */
const PICTURELESS = new Set(['home', 'lost'])

it('every page has its picture, at its own address', () => {
  const router = makeRouter()
  const pages = router.getRoutes().filter(({ name, redirect }) => name && !redirect)
  const pictured = new Set(PICTURES.map(({ route }) => route))
  expect(
    pages.map(({ name }) => name).filter((name) => !PICTURELESS.has(String(name)) && !pictured.has(String(name))),
  ).toEqual([])
  for (const { route, path } of PICTURES) expect(router.resolve(path).name, path).toBe(route)
})
