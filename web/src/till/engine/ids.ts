/**
 * A UUIDv7 for a document of this till, made before its first request. From `getRandomValues`, which a page over plain http has
 * too; `crypto.randomUUID` it has not.
 */
export function newId(now = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  let time = Math.max(0, Math.floor(now))
  for (let place = 5; place >= 0; place -= 1) {
    bytes[place] = time % 256
    time = Math.floor(time / 256)
  }
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
