import type { Router } from 'vue-router'
import { mayOpen, type Visitor } from '@/router/guards'

/** A page that is open to somebody, and needs nothing more said to be opened. */
export interface OpenPage {
  name: string
  title: string
}

/** The pages with a title behind the sign-in, but for those of one row. */
export function pagesOf(router: Router, visitor: Visitor): OpenPage[] {
  return router.getRoutes().flatMap(({ name, path }) => {
    if (typeof name !== 'string' || !path.startsWith('/hq/') || path.includes(':')) return []
    const place = router.resolve({ name })
    return place.meta.title && mayOpen(place, visitor) ? [{ name, title: place.meta.title }] : []
  })
}

/** Those with each word of `text` in their titles; first those that begin with it, then by title. */
export function called(pages: readonly OpenPage[], text: string): OpenPage[] {
  const wanted = text.toLowerCase()
  const words = wanted.split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const begins = ({ title }: OpenPage) => Number(title.toLowerCase().startsWith(wanted))
  return pages
    .filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
    .sort((one, other) => begins(other) - begins(one) || one.title.localeCompare(other.title))
}
