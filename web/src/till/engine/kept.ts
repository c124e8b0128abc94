import { openDB, type IDBPDatabase } from 'idb'
import type { WorkCart } from '../contract'
import { fail } from './troubles'
import type { Kept, StoreName } from './inside'

/** What the browser keeps of a till, in IndexedDB. What is written is on the disk before the promise resolves. */

const NAME = 'tillkeep-till'
const STORES: StoreName[] = ['place', 'cart', 'pending', 'settings', 'catalogue', 'meta']
/** A browser that has not opened it by then does not: some never answer in a private window. */
const OPENS_WITHIN_MS = 5000

interface Change {
  store: StoreName
  entries?: [string, unknown][]
  removed?: string[]
}

export interface KeptHere extends Kept {
  /** All of it or nothing. */
  together(changes: Change[]): Promise<void>
  /** Whether this browser keeps anything; asked once it was tried. */
  usable(): Promise<boolean>
  close(): void
}

/** A copy without anything that only lives in this page. */
export const plain = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T))

/** The cart as it is kept: approvals are good for minutes, and only for this page. */
export const keptCart = (cart: WorkCart): WorkCart => ({ ...plain(cart), approvals: [] })

export function openKept(): KeptHere {
  let opened: Promise<IDBPDatabase> | null = null

  function database(): Promise<IDBPDatabase> {
    opened ??= inTime(
      openDB(NAME, 1, {
        upgrade(db) {
          for (const store of STORES) if (!db.objectStoreNames.contains(store)) db.createObjectStore(store)
        },
        // A newer page waits for this one to let go.
        blocking: (_, __, event) => ((event.target as IDBDatabase).close(), (opened = null)),
        terminated: () => (opened = null),
      }),
    ).catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }

  /** Once more when the connection was gone, as a tablet closes it while it sleeps. */
  async function withDatabase<T>(act: (db: IDBPDatabase) => Promise<T>): Promise<T> {
    try {
      return await act(await database())
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'InvalidStateError') throw error
      opened = null
      return act(await database())
    }
  }

  /** What cannot be read is not the same as what is not there. */
  const reading = <T>(act: (db: IDBPDatabase) => Promise<T>): Promise<T> =>
    withDatabase(act).catch((error: unknown) => {
      throw fail('kept_unreadable', {}, null, error)
    })

  async function together(changes: Change[]): Promise<void> {
    const stores = [...new Set(changes.map(({ store }) => store))]
    if (stores.length === 0) return
    // The catalogue is read again where it was lost; for all else a power cut must not take what was said to be kept.
    const durability = stores.every((store) => store === 'catalogue') ? 'relaxed' : 'strict'
    try {
      await withDatabase(async (db) => {
        const tx = db.transaction(stores, 'readwrite', { durability })
        // Awaited below as a whole: a part that fails ends all of it.
        const parts = changes.flatMap(({ store, entries = [], removed = [] }) => [
          ...removed.map((key) => tx.objectStore(store).delete(key)),
          ...entries.map(([key, value]) => tx.objectStore(store).put(value, key)),
        ])
        await Promise.all([...parts, tx.done])
      })
    } catch (error) {
      throw fail('storage_full', {}, null, error)
    }
  }

  return {
    together,
    write: (store, entries, removed) => together([{ store, entries, removed }]),
    read: <T>(store: StoreName, key: string) => reading(async (db) => (await db.get(store, key)) as T | undefined),
    all: <T>(store: StoreName) => reading(async (db) => (await db.getAll(store)) as T[]),
    async clear(store) {
      await withDatabase((db) => db.clear(store)).catch((error: unknown) => {
        throw fail('storage_full', {}, null, error)
      })
    },
    usable: () =>
      database().then(
        () => true,
        () => false,
      ),
    close() {
      void opened?.then((db) => db.close()).catch(() => undefined)
      opened = null
    },
  }
}

async function inTime<T>(coming: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException('IndexedDB', 'TimeoutError')), OPENS_WITHIN_MS)
  })
  return Promise.race([coming, late]).finally(() => clearTimeout(timer))
}
