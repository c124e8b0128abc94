import { describe, expect, it } from 'vitest'
import { registersOf, type Drawer } from '@/pages/registers/registers'

const drawer = (registerId: string, registerCode: string, sessionNumber: number) =>
  ({ registerId, registerCode, sessionNumber }) as Drawer

describe('the registers of a store', () => {
  it('are those with drawers that came, each with its newest one, by their codes', () => {
    const registers = registersOf([
      drawer('b', '02', 7),
      drawer('a', '01', 4),
      drawer('b', '02', 6),
      drawer('a', '01', 3),
    ])
    expect(registers.map(({ code, last }) => [code, last.sessionNumber])).toEqual([
      ['01', 4],
      ['02', 7],
    ])
    expect(registersOf([])).toEqual([])
  })

  it('are two when a code was given to another register', () => {
    const registers = registersOf([drawer('new', '01', 1), drawer('old', '01', 9)])
    expect(registers.map(({ id }) => id)).toEqual(['new', 'old'])
  })
})
