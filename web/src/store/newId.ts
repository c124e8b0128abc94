/**
 * An id of the client's making, a UUID of version 7: whoever sends a request again under it has done one thing. Not by
 * `randomUUID`, which pages that came without TLS do not have.
 */
export function newId(now = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const time = now.toString(16).padStart(12, '0')
  for (let at = 0; at < 6; at += 1) bytes[at] = Number.parseInt(time.slice(at * 2, at * 2 + 2), 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
