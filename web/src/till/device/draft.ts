import type { Register } from '../contract'

/** What is proposed for a register that is made here. */

/** The smallest code of two digits that no register has; an empty one when all are taken. */
export function freeCode(registers: readonly Pick<Register, 'code'>[]): string {
  const taken = new Set(registers.map(({ code }) => code))
  for (let number = 1; number < 100; number += 1) {
    const code = String(number).padStart(2, '0')
    if (!taken.has(code)) return code
  }
  return ''
}

/** `T3` of the code 03, or the next one that no register has. */
export function freeTerminal(code: string, registers: readonly Pick<Register, 'terminalId'>[]): string {
  const taken = new Set(registers.map(({ terminalId }) => terminalId.toLowerCase()))
  for (let number = Number(code) || 1; ; number += 1) {
    const terminal = `T${number}`
    if (!taken.has(terminal.toLowerCase())) return terminal
  }
}

export interface RegisterDraft {
  code: string
  name: string
  terminalId: string
  deviceName: string
}
export type DraftField = keyof RegisterDraft

/** What is wrong with a draft, by field. */
export function wrongIn(
  draft: RegisterDraft,
  registers: readonly Pick<Register, 'code' | 'terminalId'>[],
): Partial<Record<DraftField, 'needed' | 'twoDigits' | 'codeTaken' | 'terminalTaken'>> {
  const wrong: ReturnType<typeof wrongIn> = {}
  for (const field of ['name', 'terminalId', 'deviceName'] as const) {
    if (draft[field].trim() === '') wrong[field] = 'needed'
  }
  if (!/^\d{2}$/.test(draft.code)) wrong.code = 'twoDigits'
  else if (registers.some(({ code }) => code === draft.code)) wrong.code = 'codeTaken'
  const terminal = draft.terminalId.trim().toLowerCase()
  if (registers.some(({ terminalId }) => terminalId.toLowerCase() === terminal)) wrong.terminalId = 'terminalTaken'
  return wrong
}
