import type { Schemas } from '@/api/client'

export type Drawer = Schemas['DrawerOfStore']

/** A register as headquarters knows it: by the drawers that its store has sent. */
export interface Register {
  id: string
  code: string
  /** The newest of its drawers. */
  last: Drawer
}

/** The registers of a store from its drawers, the newest first; ordered by their codes. */
export function registersOf(drawers: readonly Drawer[]): Register[] {
  const newest = new Map<string, Register>()
  for (const drawer of drawers) {
    const { registerId, registerCode } = drawer
    if (!newest.has(registerId)) newest.set(registerId, { id: registerId, code: registerCode, last: drawer })
  }
  return [...newest.values()].sort((one, other) => one.code.localeCompare(other.code))
}
