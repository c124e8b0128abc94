import { api, data, done, written, type Schemas } from '@/api/client'
import { ApiError, wordsOfAction } from '@/api/errors'
import { numbers } from '@/format/locale'
import { t } from './texts'

type Product = Schemas['Product']

/** Pixels of a side: of a row, and of the page of a product. */
export type Side = 96 | 320

/** What headquarters takes; it looks at the file itself and not at what this is called. */
export const KINDS = ['image/jpeg', 'image/png', 'image/webp']
export const MOST_MIB = 2
const MIB = 1024 * 1024
const SIZE = numbers({ maximumFractionDigits: 1 })

/** The picture with this hash, which the browser keeps: what is behind it never changes. */
export const fetchPicture = (id: string, hash: string, size: Side): Promise<Blob> =>
  written(
    api.GET('/api/v1/products/{id}/picture', { params: { path: { id }, query: { size, hash } }, parseAs: 'blob' }),
  )

export function sendPicture({ id, syncVersion }: Product, file: File): Promise<Product> {
  const sent = {
    params: { path: { id }, query: { expectedVersion: syncVersion } },
    headers: { 'content-type': file.type || 'application/octet-stream' },
    // The description calls a file a text.
    body: file as unknown as string,
    bodySerializer: () => file,
  }
  return data(api.PUT('/api/v1/products/{id}/picture', sent))
}

export const dropPicture = ({ id, syncVersion }: Product): Promise<void> =>
  done(
    api.DELETE('/api/v1/products/{id}/picture', {
      params: { path: { id }, query: { expectedVersion: syncVersion } },
    }),
  )

/** Why a file is not sent, with what to do about it. */
export function wrongWith({ name, size, type }: File): string | undefined {
  // Where the system knows no kind, headquarters finds out.
  if (type !== '' && !KINDS.includes(type)) return t('pictureKind', { name })
  if (size <= MOST_MIB * MIB) return undefined
  const shown = SIZE().format(Math.ceil((size / MIB) * 10) / 10)
  return t('pictureLarge', { name, size: shown, most: MOST_MIB })
}

/** What headquarters refused of a picture, in words. */
export function refusedWith(error: unknown): string {
  const why = error instanceof ApiError && error.details.find(({ field }) => field === 'picture')?.message
  return why ? t('pictureRefused', { why }) : wordsOfAction(error)
}

/** Paints the whole of a picture into the middle of a white square, as headquarters does; a small one is not enlarged. */
export function paint(picture: ImageBitmap, canvas: HTMLCanvasElement): void {
  const scale = Math.min(1, canvas.width / picture.width, canvas.height / picture.height)
  const [width, height] = [picture.width * scale, picture.height * scale]
  const context = canvas.getContext('2d')
  if (!context) return
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.imageSmoothingQuality = 'high'
  context.drawImage(picture, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height)
}
