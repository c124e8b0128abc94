import type { Product } from '../contract'
import { ApiError } from '@/api/errors'
import type { Asker } from './inside'

/** Addresses of pictures, each asked for once; the browser has the pictures themselves in its cache. */

/** As many are held at a time: a page that shows tiles for a week must not grow. */
const MOST = 400
/** The store may not have fetched it yet. */
const AGAIN_AFTER_MS = 10 * 60_000
/** At a time: sales go over the same line. */
const AT_ONCE = 4

interface Held {
  address: Promise<string | null>
  missingSince: number | null
}

export class Pictures {
  private readonly held = new Map<string, Held>()
  private readonly queue: (() => void)[] = []
  private free = AT_ONCE

  constructor(private readonly asker: () => Asker) {}

  of({ pictureHash }: Product, size: 96 | 320): Promise<string | null> {
    if (!pictureHash) return Promise.resolve(null)
    const key = `${pictureHash}/${size}`
    const known = this.held.get(key)
    if (known && (known.missingSince === null || Date.now() - known.missingSince < AGAIN_AFTER_MS)) {
      // What was looked at last is the last to be let go of.
      this.held.delete(key)
      this.held.set(key, known)
      return known.address
    }
    const held: Held = { address: Promise.resolve(null), missingSince: null }
    held.address = this.fetch(pictureHash, size).catch((error: unknown) => {
      held.missingSince = isMissing(error) ? Date.now() : -Infinity
      return null
    })
    this.held.set(key, held)
    this.trim()
    return held.address
  }

  private async fetch(hash: string, size: number): Promise<string> {
    if (this.free > 0) this.free -= 1
    else await new Promise<void>((turn) => this.queue.push(turn))
    try {
      const path = `/pos/pictures/${encodeURIComponent(hash)}`
      return URL.createObjectURL(await this.asker().ask<Blob>('GET', path, { query: { size }, parse: 'blob' }))
    } finally {
      const next = this.queue.shift()
      if (next) next()
      else this.free += 1
    }
  }

  private trim(): void {
    for (const [key, { address }] of this.held) {
      if (this.held.size <= MOST) return
      this.held.delete(key)
      void address.then((url) => url && URL.revokeObjectURL(url))
    }
  }
}

/** There is none; anything else is asked for again when it is wanted next. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof ApiError && error.cause.status === 404
