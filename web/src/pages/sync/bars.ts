import type { Schemas } from '@/api/client'
import type { Figures, Token } from '@/components/charts/figures'
import { t } from '@/components/charts/texts'
import { count } from '@/format/money'
import { pointLabel } from './figures'

/** What the chart of a store's history is made of: bars of parts above one another. */

type History = Schemas['History']
type Point = Schemas['HistoryPoint']

interface Part {
  name: string
  colour: Token
  of: (point: Point) => number
  say: (n: string) => string
}

/** From the bottom of a bar to its top. */
export const parts = (): Part[] => [
  {
    ...{ name: t('taken'), colour: 'var(--accent)', say: (n) => t('sayTaken', { n }) },
    of: ({ taken, warnings }) => taken - warnings,
  },
  {
    ...{ name: t('warned'), colour: 'var(--warn)', say: (n) => t('sayWarned', { n }) },
    of: ({ warnings }) => warnings,
  },
  {
    ...{ name: t('settled'), colour: 'var(--line-strong)', say: (n) => t('saySettled', { n }) },
    of: ({ settled }) => settled,
  },
  { name: t('failed'), colour: 'var(--bad)', say: (n) => t('sayFailed', { n }), of: ({ failed }) => failed },
]

export function historyFigures({ by, points }: History): Figures {
  const label = pointLabel(by)
  const names = points.map(({ at }) => label(at))
  return {
    head: t('when'),
    places: names.map((name) => ({ label: name, name })),
    series: parts().map(({ name, colour, of }) => ({
      ...{ name, colour, kind: 'bar', stack: 'parts' },
      values: points.map(of),
    })),
    text: count,
    say: (place) => {
      const said = parts()
        .map(({ of, say }) => ({ number: of(points[place]!), say }))
        .filter(({ number }) => number > 0)
        .map(({ number, say }) => say(count(number)))
      const at = names[place]!
      return said.length > 0 ? t('whatCame', { at, parts: said.join(', ') }) : t('whatCameNothing', { at })
    },
  }
}
