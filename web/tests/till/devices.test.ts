import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CameraError, onceFor, startCamera } from '@/till/engine/camera'
import { makeDisplay, type Shown } from '@/till/engine/display'
import { makeSounds } from '@/till/engine/sounds'

const shown: Shown = {
  state: 'selling',
  storeName: 'Shop',
  currencyCode: 'USD',
  currencyExponent: 2,
  locale: 'en-US',
  lines: [{ id: 'a', name: 'Tea', quantity: 1, unit: 'ea', amount: 500, saved: 0 }],
  total: 500,
  isConfirmed: true,
  paid: null,
  change: null,
  training: false,
}
const soon = () => new Promise((resolve) => setTimeout(resolve, 20))

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('the customer display', () => {
  it('shows what the till shows, also when it opens later, and nothing when the till is gone', async () => {
    const till = makeDisplay('till')
    till.show(shown)
    const display = makeDisplay('display')
    await soon()
    expect(display.shown.value).toEqual(shown)
    till.show({ ...shown, state: 'paid', change: 100 })
    await soon()
    expect(display.shown.value).toMatchObject({ state: 'paid', change: 100 })
    till.stop()
    await soon()
    expect(display.shown.value).toBeNull()
    display.stop()
  })

  it('works by the storage of the browser where it has no channel, and leaves nothing there', () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    const written: string[] = []
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation((_, value) => void written.push(value))
    const [till, display] = [makeDisplay('till'), makeDisplay('display')]
    till.show(shown)
    expect(localStorage.getItem('tillkeep-display')).toBeNull()
    window.dispatchEvent(new StorageEvent('storage', { key: 'tillkeep-display', newValue: written.at(-1) ?? '' }))
    expect(display.shown.value).toEqual(shown)
    till.stop()
    display.stop()
  })
})

describe('the camera', () => {
  const code = (work: Promise<unknown>) =>
    work.catch((error: unknown) => (error instanceof CameraError ? error.code : error))
  const refusing = (name: string) =>
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: () => Promise.reject(new DOMException('x', name)) } })

  it('says why there is no picture', async () => {
    const video = document.createElement('video')
    vi.stubGlobal('isSecureContext', false)
    expect(await code(startCamera(video, () => {}))).toBe('not_secure')
    vi.stubGlobal('isSecureContext', true)
    vi.stubGlobal('navigator', {})
    expect(await code(startCamera(video, () => {}))).toBe('no_camera')
    for (const [name, said] of [
      ['NotAllowedError', 'camera_refused'],
      ['NotFoundError', 'no_camera'],
      ['NotReadableError', 'no_camera'],
    ] as const) {
      refusing(name)
      expect(await code(startCamera(video, () => {})), name).toBe(said)
    }
  })

  it('tells a code that stays in sight once, and again when it was away', () => {
    let now = 0
    const told = onceFor(1500, () => now)
    const at = (ms: number, text: string) => ((now = ms), told(text))
    expect([at(0, 'a'), at(100, 'a'), at(200, 'b'), at(1500, 'a'), at(2900, 'a'), at(4500, 'a')]).toEqual([
      true,
      false,
      true,
      false,
      false,
      true,
    ])
  })

  it('stops its tracks when the reader does not start', async () => {
    const track = { stop: vi.fn() }
    vi.stubGlobal('isSecureContext', true)
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: () => Promise.resolve({ getTracks: () => [track] }) } })
    vi.stubGlobal(
      'BarcodeDetector',
      Object.assign(class {}, { getSupportedFormats: () => Promise.resolve(['ean_13']) }),
    )
    const video = {
      setAttribute() {},
      play: () => Promise.reject(new Error('no play')),
      srcObject: null,
    } as unknown as HTMLVideoElement
    expect(await code(startCamera(video, () => {}))).toBeInstanceOf(Error)
    expect(track.stop).toHaveBeenCalledOnce()
    expect(video.srcObject).toBeNull()
  })

  it('reads by the reader of the browser where it has one, and lets go of the camera', async () => {
    const track = { stop: vi.fn() }
    const codes = [[{ rawValue: '123' }], [{ rawValue: '123' }], [{ rawValue: '456' }]]
    vi.stubGlobal('isSecureContext', true)
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: () => Promise.resolve({ getTracks: () => [track] }) } })
    class Detector {
      static getSupportedFormats = () => Promise.resolve(['ean_13'])
      detect = () => Promise.resolve(codes.shift() ?? [])
    }
    vi.stubGlobal('BarcodeDetector', Detector)
    const video = {
      setAttribute() {},
      play: () => Promise.resolve(),
      srcObject: null,
      readyState: 4,
    } as unknown as HTMLVideoElement
    const read: string[] = []
    const camera = await startCamera(video, (one) => read.push(one))
    await new Promise((resolve) => setTimeout(resolve, 420))
    expect(read).toEqual(['123', '456'])
    camera.stop()
    expect(track.stop).toHaveBeenCalledOnce()
  })
})

describe('sounds', () => {
  let made = 0
  const node = () => ({
    connect: (other: unknown) => other,
    disconnect() {},
    start() {},
    stop() {},
    frequency: {},
    gain: { setValueAtTime() {}, linearRampToValueAtTime() {} },
  })
  const tones = vi.fn(node)
  beforeEach(() => {
    made = 0
    tones.mockClear()
    vi.stubGlobal(
      'AudioContext',
      class {
        currentTime = 0
        state = 'running'
        destination = {}
        createOscillator = tones
        createGain = node
        constructor() {
          made += 1
        }
        close = () => Promise.resolve()
      },
    )
  })

  it('are made after the first touch and not before, once, and can be off', () => {
    let isOn = true
    const sounds = makeSounds(() => isOn)
    sounds.play('scan')
    expect([made, tones.mock.calls.length]).toEqual([0, 0])
    window.dispatchEvent(new Event('pointerdown'))
    window.dispatchEvent(new Event('keydown'))
    sounds.play('scan')
    sounds.play('refused')
    expect([made, tones.mock.calls.length]).toEqual([1, 3])
    isOn = false
    sounds.play('unknown')
    expect(tones.mock.calls.length).toBe(3)
    sounds.stop()
  })
})
