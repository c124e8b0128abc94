/** The camera as a scanner: by the browser's own reader where it has one, else by ours, which is loaded when it is needed. */

/** Why there is no picture, for the words of the till. */
type CameraTrouble = 'no_camera' | 'camera_refused' | 'not_secure'

export class CameraError extends Error {
  constructor(
    readonly code: CameraTrouble,
    cause?: unknown,
  ) {
    super(code, { cause })
    this.name = 'CameraError'
  }
}

/** What of the many kinds a shop has: each kind that is looked for costs time. */
const KINDS = ['ean_13', 'ean_8', 'upc_a', 'upc_e', 'code_128', 'code_39', 'itf', 'data_matrix', 'qr_code'] as const
const LOOK_EVERY_MS = 120
/** A code that stays in the picture is one scan. */
const SAME_FOR_MS = 1500

interface Reader {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>
}

interface OwnReader {
  new (options: { formats: string[] }): Reader
  getSupportedFormats(): Promise<readonly string[]>
}

export interface Camera {
  stop(): void
}

/** Shows the camera in `video` and tells each code that it sees; throws {@link CameraError}. */
export async function startCamera(video: HTMLVideoElement, on: (code: string) => void): Promise<Camera> {
  const stream = await open()
  const stopTracks = () => stream.getTracks().forEach((track) => track.stop())
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  try {
    video.srcObject = stream
    // Else a telephone shows it over the whole page.
    video.setAttribute('playsinline', '')
    video.muted = true
    const [reader] = await Promise.all([makeReader(), video.play()])
    const told = onceFor(SAME_FOR_MS)
    const look = async () => {
      if (isStopped) return
      // What is no picture yet, or was no longer one, is looked at again.
      const found = video.readyState >= 2 ? await reader.detect(video).catch(() => []) : []
      if (isStopped) return
      for (const { rawValue } of found) if (rawValue && told(rawValue)) on(rawValue)
      timer = setTimeout(() => void look(), LOOK_EVERY_MS)
    }
    void look()
  } catch (error) {
    stopTracks()
    video.srcObject = null
    throw error
  }
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
      stopTracks()
      video.srcObject = null
    },
  }
}

/** Whether a code is a new one: it is told again when it was out of sight for so long. */
export function onceFor(ms: number, now: () => number = () => performance.now()): (code: string) => boolean {
  const seen = new Map<string, number>()
  return (code) => {
    const at = now()
    for (const [other, when] of seen) if (at - when >= ms) seen.delete(other)
    const isNew = !seen.has(code)
    seen.set(code, at)
    return isNew
  }
}

async function open(): Promise<MediaStream> {
  if (!globalThis.isSecureContext) throw new CameraError('not_secure')
  if (!navigator.mediaDevices?.getUserMedia) throw new CameraError('no_camera')
  try {
    const wanted = { facingMode: { ideal: 'environment' }, width: { ideal: 1280 }, height: { ideal: 720 } }
    return await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false })
  } catch (error) {
    throw new CameraError(troubleOf(error), error)
  }
}

function troubleOf(error: unknown): CameraTrouble {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError') return 'camera_refused'
  return name === 'SecurityError' ? 'not_secure' : 'no_camera'
}

async function makeReader(): Promise<Reader> {
  const own = (globalThis as { BarcodeDetector?: OwnReader }).BarcodeDetector
  const has = own ? await own.getSupportedFormats().catch(() => []) : []
  // Some browsers have one that reads nothing.
  if (own && has.includes('ean_13')) return new own({ formats: KINDS.filter((kind) => has.includes(kind)) })
  const [{ BarcodeDetector, prepareZXingModule }, { default: address }] = await Promise.all([
    import('barcode-detector/ponyfill'),
    import('zxing-wasm/reader/zxing_reader.wasm?url'),
  ])
  // Its maker's default is another host; ours is served by the store.
  await prepareZXingModule({ overrides: { locateFile: () => address }, fireImmediately: true })
  return new BarcodeDetector({ formats: [...KINDS] })
}
