/** What the clock of a store shows: a day `2026-11-20` and a time `16:00`, without a zone. */
export interface Clock {
  day: string
  time: string
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  // A fixed language, since what it writes is read again.
  const made = new Intl.DateTimeFormat('en-US', { ...parts, timeZone, calendar: 'gregory', hourCycle: 'h23' })
  formats.set(timeZone, made)
  return made
}

/** What a clock in `timeZone` shows at an instant, in milliseconds. */
export function clockAt(instant: number, timeZone: string): Clock {
  const parts = formatOf(timeZone).formatToParts(instant)
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? ''
  return {
    day: `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`,
    time: `${part('hour')}:${part('minute')}`,
  }
}

const asIfUtc = ({ day, time }: Clock) => Date.parse(`${day}T${time}:00Z`)

/**
 * The instant at which a clock in `timeZone` shows this. In the night in which it is put back it shows an hour twice: then
 * the first time. Where it skips one: as late as if it had gone on.
 */
export function instantOf(clock: Clock, timeZone: string): number {
  const wanted = asIfUtc(clock)
  const ahead = (at: number) => asIfUtc(clockAt(at, timeZone)) - Math.floor(at / MINUTE_MS) * MINUTE_MS
  const [before, after] = [wanted - ahead(wanted - DAY_MS), wanted - ahead(wanted + DAY_MS)] as const
  const fits = [before, after].filter((at) => at + ahead(at) === wanted)
  return fits.length > 0 ? Math.min(...fits) : before
}
