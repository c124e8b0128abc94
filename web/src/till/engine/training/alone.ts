/** What a page does by itself where no store is asked. */

/** Nothing that is stored: any number that is no other one will do, also where a page has no `crypto.randomUUID`. */
export function newId(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
}

/** A stream on which nothing happens, with a sign of life like the store's. */
export function silence(signal: AbortSignal): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval> | undefined
  return new ReadableStream({
    start(controller) {
      const beat = () => controller.enqueue(new TextEncoder().encode(':\n\n'))
      beat()
      timer = setInterval(beat, 15_000)
      signal.addEventListener('abort', () => (clearInterval(timer), controller.error(signal.reason)), { once: true })
    },
    cancel: () => clearInterval(timer),
  })
}
