import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { vi } from 'vitest'
import type { Till } from '@/till/contract'
import type { Parts } from '@/till/engine/core'
import { makeEngine } from '@/till/engine/engine'
import { openKept, type KeptHere } from '@/till/engine/kept'
import { parts, PLACE, type Store } from './store'

/** Time is made here; what a browser does beside it, such as writing to its disk, goes on by itself. */
export function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] })
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

export async function pass(ms: number, step = 50): Promise<void> {
  for (let gone = 0; gone < ms; gone += step) {
    await vi.advanceTimersByTimeAsync(step)
    await turn()
  }
}

/** Lets time go by until it is so. */
export async function until(is: () => boolean, within = 90_000): Promise<void> {
  for (let gone = 0; !is(); gone += 100) {
    if (gone > within) throw new Error('it did not come to that')
    await vi.advanceTimersByTimeAsync(100)
    await turn()
    await turn()
  }
}

/** A promise that is done while time goes by, with what it failed with. */
export async function done<T>(promise: Promise<T>): Promise<T> {
  let isDone = false
  const watched = promise.finally(() => (isDone = true))
  watched.catch(() => undefined)
  await until(() => isDone)
  return watched
}

export async function freshBrowser(): Promise<void> {
  globalThis.indexedDB = new IDBFactory()
  localStorage.clear()
  const kept = openKept()
  await kept.write('place', [['place', PLACE]])
  kept.close()
}

export interface Opened {
  till: Till
  kept: KeptHere
}

export async function open(
  store: Store,
  more: Partial<Parts> = {},
  kept = openKept(),
  fetcher = store.fetch,
): Promise<Opened> {
  const till = makeEngine(parts(more), { fetcher, kept })
  await done(till.start())
  return { till, kept }
}

/** A till that sells, with what was scanned. */
export async function selling(store: Store, codes = ['TEA', 'CUP'], more: Partial<Parts> = {}): Promise<Opened> {
  const opened = await open(store, more)
  await done(opened.till.signIn('1234'))
  for (const code of codes) await opened.till.scan(code)
  if (codes.length > 0) await until(() => opened.till.state.price === 'confirmed')
  return opened
}

export const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await done(promise)
    return 'done'
  } catch (error) {
    return (error as { trouble?: { code: string } }).trouble?.code ?? String(error)
  }
}
