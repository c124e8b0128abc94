import type { Place, Register, SetUp, Till } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { makeLine, type Line } from './ask'
import type { Core } from './core'
import { newId } from './ids'
import { plain, type KeptHere } from './kept'
import { fail, isCode, isServerAway, refusalOf, trouble } from './troubles'

/** Which till this device is: set up by a manager, kept twice, and asked for again in clear words when it is gone. */

const COPY = 'tillkeep.till'
/** Stays when the place is forgotten by the browser alone, so that the till can say what happened. */
const TRACE = 'tillkeep.till.was'
/** Somebody said that it is no till any more: nothing was lost. */
const FORGOTTEN = 'forgotten'

/** As it is kept: with what takes the key back. */
interface KeptPlace extends Place {
  deviceId?: string
  revoked?: boolean
}

type DevicePart = Pick<Till, 'setUp' | 'forgetDevice'> & {
  key(): string | null
  read(): Promise<void>
  revoked(): void
}

interface DeviceNeeds {
  fetcher: typeof fetch | undefined
  /** This device is another till than before. */
  moved(isOtherStore: boolean): Promise<void>
  signOut(): void
}

export function makeDevice(core: Core, needs: DeviceNeeds): DevicePart {
  const { state } = core
  let kept: KeptPlace | null = null

  async function write(place: KeptPlace): Promise<void> {
    kept = place
    copy(place)
    state.place = placeOf(place)
    await core.kept.write('place', [['place', plain(place)]]).catch(() => {
      // The copy is there, or the till is asked for again with the next load; nothing of a sale hangs on it.
      if (!state.missing.includes('indexedDb')) state.missing.push('indexedDb')
    })
  }

  async function read(): Promise<void> {
    const found = (await core.kept.read<KeptPlace>('place', 'place').catch(() => undefined)) ?? copied()
    if (!found) {
      state.setupReason = (await hasTrace(core.kept)) ? 'evicted' : 'new'
      return
    }
    state.setupReason = found.revoked ? 'revoked' : null
    await write(found)
  }

  function revoked(): void {
    // A late answer to a device that was forgotten meanwhile.
    if (!kept) return
    state.setupReason = 'revoked'
    state.trouble = trouble('device_unknown')
    void write({ ...kept, deviceKey: null, revoked: true })
  }

  async function become(store: Schemas['Store'], register: Register | Schemas['Register'], enrolled: Key) {
    const before = kept
    await write({
      deviceKey: enrolled.deviceKey,
      deviceId: enrolled.id,
      storeId: store.id,
      storeCode: store.code,
      storeName: store.name,
      registerId: register.id,
      registerCode: register.code,
      registerName: register.name,
      terminalId: register.terminalId,
      currencyCode: store.currencyCode,
      currencyExponent: store.currencyExponent,
      locale: store.locale,
      timezone: store.timezone,
    })
    state.setupReason = null
    if (state.trouble?.code === 'device_unknown') state.trouble = null
    persist()
    await core.kept.write('meta', [], [FORGOTTEN]).catch(() => undefined)
    if (before && before.registerId !== register.id) await needs.moved(before.storeId !== store.id)
    core.wake()
  }

  return {
    key: () => kept?.deviceKey ?? null,
    read,
    revoked,

    async setUp(username, pin) {
      let token: string | null = null
      // A line of its own: without the key, which may be no good, and with a token that nothing else sees.
      const line = makeLine({ token: () => token, deviceKey: () => null }, needs.fetcher)
      const body: Schemas['Login'] = { username: username.trim(), pin }
      const open = async (): Promise<string> => {
        const answer = await line.ask<Schemas['SignedInAnswer']>('POST', '/auth/login', { body })
        token = answer.accessToken
        return nameOf(line, answer.user ?? (await line.ask<Schemas['Myself']>('GET', '/auth/me')))
      }
      const storeName = await open().catch(async (error: unknown) => {
        if (token) await bye(line)
        line.stop()
        throw error
      })
      const registerId = newId()
      // Once, whoever asks: the screen that set it up is gone as soon as the till is there.
      let ending: Promise<void> | null = null
      const end = () =>
        (ending ??= bye(line).then(() => {
          token = null
          line.stop()
        }))
      return {
        storeName,
        registers: () => line.ask<Register[]>('GET', '/registers', { query: { active: 'true', pageSize: 100 } }),
        devices: () => line.ask<Schemas['Device'][]>('GET', '/devices', { query: { pageSize: 100 } }),
        async choose(register, deviceName) {
          const store = await storeOf(line, register)
          await become(store, register, await enrol(line, register.id, deviceName))
          await end()
        },
        async make({ deviceName, ...draft }) {
          const body: Schemas['RegisterDraft'] = { ...draft, id: registerId, isActive: true, enroll: true, deviceName }
          const made = await line.ask<Schemas['MadeRegister']>('POST', '/registers', { body })
          const { deviceKey, deviceId } = made
          // A register that an earlier request made, whose answer was lost with its key.
          const key = deviceKey ? { deviceKey, id: deviceId ?? '' } : await enrol(line, made.id, deviceName)
          await become(await storeOf(line, made), made, key)
          await end()
        },
        end,
      } satisfies SetUp
    },

    async forgetDevice() {
      if (state.pending) throw fail('pending_first')
      const deviceId = kept?.deviceId
      let isTaken = !kept?.deviceKey
      if (deviceId && !isTaken) {
        try {
          await core.line.ask('DELETE', `/devices/${deviceId}`)
          isTaken = true
        } catch (error) {
          if (isServerAway(error)) throw error
          isTaken = isCode(refusalOf(error), 'not_found')
        }
      }
      needs.signOut()
      kept = null
      await core.kept.together([
        { store: 'place', removed: ['place'] },
        { store: 'meta', entries: [[FORGOTTEN, true]] },
      ])
      uncopy()
      await needs.moved(true)
      state.place = null
      state.setupReason = 'new'
      state.trouble = isTaken ? null : trouble('key_stays')
    },
  }
}

type Key = Schemas['Enrolled']

const enrol = (line: Line, registerId: string, name: string): Promise<Key> =>
  line.ask<Key>('POST', '/devices', { body: { registerId, name } satisfies Schemas['Enrolment'] })

/** The session of the manager ends at once; where the store does not hear it, it ends by itself. */
const bye = (line: Line): Promise<unknown> =>
  line.ask('POST', '/auth/logout', { timeoutMs: 3000 }).catch(() => undefined)

/** What the store is called, for the manager. Whoever may not see stores sees at least its code. */
async function nameOf(line: Line, person: Schemas['Myself']): Promise<string> {
  const { storeId, permissions } = person
  if (storeId && permissions.includes('stores.view')) {
    return (await line.ask<Schemas['Store']>('GET', `/stores/${storeId}`)).name
  }
  return (await line.ask<Schemas['SyncStatus']>('GET', '/sync/status')).storeCode
}

/** The store as a till of it sees it. */
async function storeOf(line: Line, { terminalId }: { terminalId: string }): Promise<Schemas['Store']> {
  return (await line.ask<Schemas['Bootstrap']>('GET', '/pos/bootstrap', { query: { terminalId } })).store
}

function placeOf({ deviceId, revoked, ...place }: KeptPlace): Place {
  void deviceId
  void revoked
  return place
}

/** A second copy, since browsers forget one kind of storage sooner than another. */
function copy(place: KeptPlace): void {
  try {
    localStorage.setItem(COPY, JSON.stringify(place))
    localStorage.setItem(TRACE, '1')
  } catch {
    // Full or forbidden: IndexedDB has it.
  }
}

function copied(): KeptPlace | undefined {
  try {
    const place: unknown = JSON.parse(localStorage.getItem(COPY) ?? 'null')
    const isPlace = typeof place === 'object' && place !== null && 'terminalId' in place && 'storeId' in place
    return isPlace ? (place as KeptPlace) : undefined
  } catch {
    return undefined
  }
}

function uncopy(): void {
  try {
    localStorage.removeItem(COPY)
    localStorage.removeItem(TRACE)
  } catch {
    // There was none.
  }
}

async function hasTrace(kept: KeptHere): Promise<boolean> {
  try {
    if (localStorage.getItem(TRACE) !== null) return true
  } catch {
    // Asks the rest.
  }
  try {
    if (await kept.read('meta', FORGOTTEN)) return false
    return (await kept.read('meta', 'boot')) !== undefined || (await kept.read('cart', 'cart')) !== undefined
  } catch {
    return false
  }
}

/** Asks the browser not to forget; some do so after seven days without a visit. */
export function persist(): void {
  void navigator.storage?.persist?.().catch(() => false)
}
