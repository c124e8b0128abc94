import type { RouteLocationRaw } from 'vue-router'
import type { Schemas } from '@/api/shop/client'
import { businessDay } from '@/format/dates'
import { count } from '@/format/money'
import { sessionName } from '@/format/series'
import { printerTrouble } from '../devices/printers'
import { troublesOf, type Status } from '../line/status'
import { t } from './texts'

/** What needs somebody in this store today. What nobody may ask for is undefined, and says nothing. */

export interface Known {
  businessDate: string
  status?: Status
  safe?: Pick<Schemas['Safe'], 'uncounted'>
  registers?: readonly Pick<Schemas['RegisterWithSession'], 'id' | 'code' | 'openSession' | 'printerState'>[]
  locks?: readonly Schemas['Lock'][]
}

export interface Need {
  key: string
  tone: 'bad' | 'warn'
  text: string
  remedy?: string
  to?: RouteLocationRaw
}

/** The worst first. */
export function needsOf({ businessDate, status, safe, registers = [], locks = [] }: Known): Need[] {
  const needs: Need[] = []
  const dead = status?.outbox.deadLettered ?? 0
  const line = { name: 'line' }
  if (dead > 0) needs.push({ key: 'dead', tone: 'bad', text: t('dead', { n: count(dead) }, dead), to: line })
  if (status) needs.push(...troublesOf(status).map((one) => ({ ...one, tone: 'bad' as const, to: line })))
  for (const { id, code, openSession } of registers) {
    if (!openSession || openSession.businessDate >= businessDate) continue
    const text = t('leftOpen', {
      register: code,
      number: sessionName(openSession.sessionNumber),
      day: businessDay(openSession.businessDate),
    })
    needs.push({ key: `open-${id}`, tone: 'warn', text, to: { name: 'drawer', params: { id: openSession.id } } })
  }
  for (const { sessionId, registerCode: register, sessionNumber, businessDate: day } of safe?.uncounted ?? []) {
    const text = t('uncounted', { register, number: sessionName(sessionNumber), day: businessDay(day) })
    needs.push({ key: `uncounted-${sessionId}`, tone: 'warn', text, to: { name: 'safe' } })
  }
  for (const { id, code: register, printerState } of registers) {
    const why = printerTrouble(printerState)
    if (why) {
      needs.push({
        key: `printer-${id}`,
        tone: 'warn',
        text: t('printer', { register, why }),
        to: { name: 'printers' },
      })
    }
  }
  needs.push(
    ...locks.map(({ id, label }) => ({ key: `lock-${id}`, tone: 'warn' as const, text: t('locked', { label }) })),
  )
  return needs
}
