/** Spans of business days, which are dates like `2026-11-20` of no time zone. */

export interface Period {
  from: string
  to: string
}

/** A date so many days later, or earlier below zero; over ends of months, years and leap days. */
export function daysLater(date: string, days: number): string {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() + days)
  return day.toISOString().slice(0, 10)
}

const firstOfMonth = (date: string): string => `${date.slice(0, 7)}-01`

/** Spans that end today or before it, as seen on the day `today`. */
export const PERIODS = {
  today: (today: string): Period => ({ from: today, to: today }),
  yesterday: (today: string): Period => ({ from: daysLater(today, -1), to: daysLater(today, -1) }),
  lastSevenDays: (today: string): Period => ({ from: daysLater(today, -6), to: today }),
  thisMonth: (today: string): Period => ({ from: firstOfMonth(today), to: today }),
  lastMonth: (today: string): Period => {
    const to = daysLater(firstOfMonth(today), -1)
    return { from: firstOfMonth(to), to }
  },
}

export type PeriodName = keyof typeof PERIODS
export const PERIOD_NAMES = Object.keys(PERIODS) as PeriodName[]
