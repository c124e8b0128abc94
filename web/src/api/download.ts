import { authorizedFetch } from './authorized'
import type { Paths } from './client'
import { refusal, unreachable } from './errors'
import { FILE, inTime } from './line'

/** Files that headquarters makes. They need the token of the session, which a plain link does not send. */

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Browsers read a file from its address after the click; some begin late. */
const KEEP_MS = 60_000

/** Fetches a file and keeps it under `name`; `arrived` hears how many bytes there are. Throws what HQ refused with. */
export async function download(
  path: keyof Paths,
  query: Query,
  name: string,
  arrived: (bytes: number) => void = () => {},
): Promise<void> {
  const url = new URL(path, location.origin)
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(key, String(value))
  }
  const response = await authorizedFetch(new Request(url, { headers: { accept: FILE } }))
  if (!response.ok) throw refusal(response, await response.json().catch(() => null))
  saveFile(await received(response, arrived), name)
}

async function received(response: Response, arrived: (bytes: number) => void): Promise<Blob> {
  const parts: BlobPart[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  try {
    // However long all of it takes, as over a slow line.
    for (let part = reader && (await inTime(reader.read())); part?.value; part = await inTime(reader!.read())) {
      parts.push(part.value)
      bytes += part.value.length
      arrived(bytes)
    }
  } catch (cause) {
    void reader?.cancel().catch(() => undefined)
    // Half of a file is none.
    throw unreachable(cause)
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' })
}

/** Hands a file to the browser, which puts it where it puts downloads. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), KEEP_MS)
}
