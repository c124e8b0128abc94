import { newId } from './ids'
import type { Kept } from './inside'

/**
 * Two windows of one device: one has the till. They talk over a BroadcastChannel, which every browser has that this is made for;
 * the record in IndexedDB says whose it is when one of them slept. Web Locks are not used: over plain http there are none.
 */

const CHANNEL = 'tillkeep-till'
const OWNER = 'owner'
const ANSWERS_WITHIN_MS = 300
const HEARTBEAT_MS = 10_000
/** A record that is older says nothing any more, where windows cannot talk. */
const STALE_MS = 25_000

interface Message {
  kind: 'who' | 'here' | 'take' | 'given'
  from: string
}

interface Owner {
  id: string
  at: number
}

interface WindowPart {
  /** Asks for the till; false when another window has it. */
  claim(): Promise<boolean>
  /** Takes it from the window that has it, which has written everything by then. */
  take(): Promise<void>
  /** Whether it is still this one's, by what is on the disk. */
  isMine(): Promise<boolean>
  stop(): void
}

interface WindowHooks {
  /** Another window takes over: writes what is not written yet. */
  yielded(): Promise<void>
}

export function makeWindow(kept: Kept, hooks: WindowHooks): WindowPart {
  const id = newId()
  const mine = { state: 'none' as 'none' | 'asking' | 'owner' }
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(CHANNEL) : null
  let beat: ReturnType<typeof setInterval> | undefined
  let heard: ((message: Message) => void) | null = null

  const say = (kind: Message['kind']) => channel?.postMessage({ kind, from: id } satisfies Message)

  if (channel) {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data?.from === id) return
      heard?.(data)
      // Of two that begin at once the elder goes first.
      const isFirst = mine.state === 'owner' || (mine.state === 'asking' && id < data.from)
      if (data.kind === 'who' && isFirst) say('here')
      if (data.kind === 'take' && mine.state === 'owner') void yields().then(() => say('given'))
    }
  }

  async function yields(): Promise<void> {
    if (mine.state !== 'owner') return
    mine.state = 'none'
    clearInterval(beat)
    await hooks.yielded()
  }

  /** Whether somebody says `kind` in time. */
  function hears(kind: Message['kind'], ms: number): Promise<boolean> {
    if (!channel) return Promise.resolve(false)
    return new Promise((resolve) => {
      const end = (is: boolean) => {
        clearTimeout(timer)
        heard = null
        resolve(is)
      }
      const timer = setTimeout(() => end(false), ms)
      heard = (message) => message.kind === kind && end(true)
    })
  }

  async function own(): Promise<void> {
    mine.state = 'owner'
    await write()
    clearInterval(beat)
    beat = setInterval(() => void look(), HEARTBEAT_MS)
  }

  const write = () =>
    kept.write('meta', [[OWNER, { id, at: Date.now() } satisfies Owner]]).catch(() => {
      // Where nothing is kept, the channel alone says whose it is.
    })

  const read = () => kept.read<Owner>('meta', OWNER).catch(() => undefined)

  async function look(): Promise<void> {
    const owner = await read()
    if (mine.state !== 'owner') return
    if (owner && owner.id !== id) return yields()
    // Windows that talk need no time of it, and a tablet is spared a write every few seconds.
    if (!channel) await write()
  }

  return {
    async claim() {
      mine.state = 'asking'
      const answer = hears('here', ANSWERS_WITHIN_MS)
      say('who')
      let isTaken = await answer
      if (!channel) {
        const owner = await read()
        isTaken = owner !== undefined && Math.abs(Date.now() - owner.at) < STALE_MS
      }
      if (isTaken) {
        mine.state = 'none'
        return false
      }
      await own()
      return true
    },
    async take() {
      const answer = hears('given', ANSWERS_WITHIN_MS * 4)
      say('take')
      await answer
      await own()
    },
    async isMine() {
      if (mine.state !== 'owner') return false
      const owner = await kept.read<Owner>('meta', OWNER)
      if (owner === undefined || owner.id === id) return true
      await yields()
      return false
    },
    stop() {
      mine.state = 'none'
      clearInterval(beat)
      channel?.close()
    },
  }
}
