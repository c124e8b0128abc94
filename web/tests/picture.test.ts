import { enableAutoUnmount, flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import { question } from '@/composables/useConfirm'
import { paint, wrongWith } from '@/pages/products/picture'
import PictureCard from '@/pages/products/PictureCard.vue'
import ProductThumbnail from '@/pages/products/ProductThumbnail.vue'
import { fresh, ok, refused, serve } from './kit'

const PATH = '/api/v1/products/p1/picture'
const PRODUCT = { id: 'p1', name: 'Green tea', syncVersion: 7, pictureHash: null } as unknown as Schemas['Product']
const WITH = { ...PRODUCT, pictureHash: 'abc' }

/** What is drawn and where: no browser, so that what a browser cannot read is a file named so. */
const drawn = vi.fn()
const bitmap = (width: number, height: number) => ({ width, height, close: () => undefined }) as ImageBitmap

beforeEach(() => {
  fresh()
  drawn.mockClear()
  vi.stubGlobal('createImageBitmap', async (file: Blob) => {
    if ((await file.text()) === 'no picture') throw new DOMException('cannot decode', 'InvalidStateError')
    return bitmap(640, 320)
  })
  const context = { fillRect: vi.fn(), drawImage: drawn } as unknown as CanvasRenderingContext2D
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never)
})
enableAutoUnmount(afterEach)
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

const file = (name = 'tea.png', type = 'image/png', content: BlobPart = 'a picture') =>
  new File([content], name, { type })
const large = () => file('photo.jpg', 'image/jpeg', new Uint8Array((2 << 20) + 1))

describe('a file', () => {
  // Not named by the files themselves, whose bytes would be the name.
  it.each([
    ['tea.png', file(), undefined],
    ['a file of no kind', file('tea.webp', ''), undefined],
    ['one of 2 MiB', file('tea.jpg', 'image/jpeg', new Uint8Array(2 << 20)), undefined],
    ['tea.gif', file('tea.gif', 'image/gif'), 'tea.gif is no JPEG, PNG or WebP file. Choose one that is'],
    ['tea.svg', file('tea.svg', 'image/svg+xml'), 'tea.svg is no JPEG'],
    ['one of more', large(), 'photo.jpg has 2.1 MiB, and at most 2 are taken. Save it smaller first'],
  ])('%s is taken, or refused with what to do', (_, one, words) => {
    const wrong = wrongWith(one)
    if (words === undefined) expect(wrong).toBeUndefined()
    else expect(wrong).toContain(words)
  })
})

it.each([
  [640, 320, [0, 80, 320, 160]],
  [100, 400, [120, 0, 80, 320]],
  // As headquarters does, which enlarges nothing.
  [100, 50, [110, 135, 100, 50]],
])('a picture of %d by %d is painted whole, in the middle', (width, height, place) => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 320 })
  paint(bitmap(width, height), canvas)
  expect(drawn.mock.calls[0]!.slice(1)).toEqual(place)
})

interface Server {
  put?: () => Response | Promise<Response>
  product?: Schemas['Product']
}

function open({ put = () => ok(WITH), product = PRODUCT }: Server = {}, readOnly = false) {
  const sent: { version: string | null; type: string | null; content: string }[] = []
  const server = serve({
    [`GET ${PATH}`]: () => new Response('kept', { headers: { 'content-type': 'image/jpeg' } }),
    [`PUT ${PATH}`]: async (request) => {
      const version = new URL(request.url).searchParams.get('expectedVersion')
      sent.push({ version, type: request.headers.get('content-type'), content: await request.text() })
      return put()
    },
    [`DELETE ${PATH}`]: () => new Response(null, { status: 204 }),
  })
  const reload = vi.fn(() => Promise.resolve())
  const card = mount(PictureCard, { props: { product, readOnly, reload }, attachTo: document.body })
  return { card, sent, server, reload }
}

async function drop(card: VueWrapper, ...files: File[]): Promise<void> {
  await card.get('section').trigger('drop', { dataTransfer: { files } })
  await flushPromises()
}
const dialog = () => document.querySelector('[role=dialog]')
const button = (text: string) =>
  [...document.querySelectorAll('button')].find((one) => one.textContent?.trim() === text)!
async function press(text: string): Promise<void> {
  button(text).click()
  await flushPromises()
}

describe('a picture that is chosen', () => {
  it('is looked at first, and sent as it is with the version that was in sight', async () => {
    const { card, sent } = open()
    expect(card.text()).toContain('There is no picture yet.')
    await drop(card, file())
    expect(dialog()!.textContent).toContain('Picture of Green tea')
    expect(drawn).toHaveBeenCalledOnce()
    expect(document.activeElement).toBe(button('Use this picture'))
    expect(sent).toEqual([])
    await press('Use this picture')
    expect(sent).toEqual([{ version: '7', type: 'image/png', content: 'a picture' }])
    expect(card.emitted('changed')).toEqual([[WITH]])
    expect(dialog()).toBeNull()
  })

  it('is chosen from the files as well', async () => {
    const { card } = open()
    const input = card.get<HTMLInputElement>('input[type=file]')
    expect(input.attributes('accept')).toBe('image/jpeg,image/png,image/webp')
    const clicked = vi.spyOn(input.element, 'click')
    await press('Choose a picture')
    expect(clicked).toHaveBeenCalledOnce()
    Object.defineProperty(input.element, 'files', { value: [file()] })
    await input.trigger('change')
    expect(dialog()).not.toBeNull()
  })

  it.each([
    ['is of another kind', file('tea.gif', 'image/gif'), 'tea.gif is no JPEG, PNG or WebP file'],
    ['is too large', large(), 'Save it smaller first'],
    ['is damaged', file('tea.png', 'image/png', 'no picture'), 'tea.png cannot be read as a picture'],
  ])('and %s is not sent, with the remedy', async (_, chosen, words) => {
    const { card, sent } = open()
    await drop(card, chosen)
    expect(document.querySelector('[role=alert]')!.textContent).toContain(words)
    await press('Use this picture')
    expect(sent).toEqual([])
    // A better one takes its place.
    await drop(card, file())
    expect(document.querySelector('[role=alert]')).toBeNull()
    await press('Use this picture')
    expect(sent).toHaveLength(1)
  })

  it('stays in sight while it is on its way, so that the page hears of the new version', async () => {
    let answer: (answer: Response) => void = () => {}
    const { card } = open({ put: () => new Promise((resolve) => (answer = resolve)) })
    await drop(card, file())
    await press('Use this picture')
    await press('Choose another file')
    dialog()!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))
    await flushPromises()
    expect(dialog()!.textContent).toContain('Saving …')
    answer(ok(WITH))
    await vi.waitFor(() => expect(card.emitted('changed')).toEqual([[WITH]]))
    expect(dialog()).toBeNull()
  })

  it('and refused by headquarters stays, with its words', async () => {
    const details = [{ field: 'picture', message: 'has more than 40 million pixels; send a smaller one' }]
    const { card } = open({ put: () => refused(422, 'validation', { details }) })
    await drop(card, file())
    await press('Use this picture')
    expect(document.querySelector('[role=alert]')!.textContent).toContain(
      'The picture has more than 40 million pixels; send a smaller one',
    )
    expect(card.emitted('changed')).toBeUndefined()
  })

  it('on a product that somebody else changed loads that again, and is sent at the next press', async () => {
    let isOutdated = true
    const { card, sent, reload } = open({ put: () => (isOutdated ? refused(409, 'version_conflict') : ok(WITH)) })
    await drop(card, file())
    await press('Use this picture')
    expect(reload).toHaveBeenCalledOnce()
    expect(document.querySelector('[role=alert]')!.textContent).toContain('Somebody else changed this product')
    isOutdated = false
    await card.setProps({ product: { ...PRODUCT, syncVersion: 9 } })
    await press('Use this picture')
    expect(sent.map(({ version }) => version)).toEqual(['7', '9'])
    expect(card.emitted('changed')).toEqual([[WITH]])
  })
})

describe('a picture that is there', () => {
  it('is shown by its hash, replaced, and removed when somebody is sure', async () => {
    const { card, server, reload } = open({ product: WITH })
    await flushPromises()
    expect(card.get('canvas[role=img]').attributes('aria-label')).toBe('Picture of Green tea')
    expect(button('Replace picture')).toBeDefined()
    await press('Remove picture')
    expect(question.value?.title).toBe('Remove the picture of Green tea?')
    expect(server.asked).toEqual([`GET ${PATH}`])
    question.value!.answer(true)
    await flushPromises()
    expect(server.asked).toEqual([`GET ${PATH}`, `DELETE ${PATH}`])
    expect(reload).toHaveBeenCalledOnce()
  })

  it('is shown alone to who may not change it', async () => {
    const { card } = open({ product: WITH }, true)
    await flushPromises()
    expect(card.find('canvas').exists()).toBe(true)
    expect(card.find('button').exists()).toBe(false)
    await drop(card, file())
    expect(dialog()).toBeNull()
  })
})

describe('a picture in the list', () => {
  /** What comes into sight, when it is told. */
  let see: (isIntersecting: boolean) => void = () => undefined
  beforeEach(() => {
    vi.stubGlobal(
      'IntersectionObserver',
      class {
        constructor(told: (entries: unknown[]) => void) {
          see = (isIntersecting) => told([{ isIntersecting }])
        }
        observe() {}
        disconnect() {}
      },
    )
  })

  it('is asked for when it comes into sight, small and by its hash', async () => {
    const asked: string[] = []
    serve({
      [`GET ${PATH}`]: ({ url }) => {
        asked.push(new URL(url).search)
        return new Response('kept')
      },
    })
    const thumbnail = mount(ProductThumbnail, { props: { id: 'p1', hash: 'abc' } })
    await flushPromises()
    see(false)
    await flushPromises()
    expect(asked).toEqual([])
    see(true)
    await flushPromises()
    expect(asked).toEqual(['?size=96&hash=abc'])
    expect(thumbnail.get('canvas').attributes('aria-hidden')).toBe('true')
  })

  it('that is not there is not asked for', async () => {
    const server = serve({})
    const thumbnail = mount(ProductThumbnail, { props: { id: 'p1', hash: null } })
    see(true)
    await flushPromises()
    expect(server.asked).toEqual([])
    expect(thumbnail.find('canvas').exists()).toBe(false)
  })
})
