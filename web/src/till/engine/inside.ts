/** What the two halves of the engine say to each other: who asks the store, and what the browser keeps. */

export type StoreName = 'place' | 'cart' | 'pending' | 'settings' | 'catalogue' | 'meta'

export interface Asker {
  ask<T>(
    method: string,
    path: string,
    options?: {
      query?: Record<string, string | number | undefined>
      body?: unknown
      headers?: Record<string, string>
      timeoutMs?: number
      key?: string
      parse?: 'json' | 'text' | 'blob'
    },
  ): Promise<T>
  stream(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>
}

/** Reading throws where it cannot be known what is kept. */
export interface Kept {
  read<T>(store: StoreName, key: string): Promise<T | undefined>
  all<T>(store: StoreName): Promise<T[]>
  write(store: StoreName, entries: [string, unknown][], removed?: string[]): Promise<void>
  clear(store: StoreName): Promise<void>
}
