import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readScanner, type ScannerOptions } from '@/till/engine/keys'
import { usSign } from '@/till/engine/layout'

let stop: () => void = () => {}
let now = 1000
let scans: string[] = []
let others: (string | undefined)[] = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  ;[now, scans, others] = [1000, [], []]
  document.body.innerHTML = '<input id="price"><button id="pay"></button><div id="other" tabindex="0"></div>'
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

const at = (id: string) => document.getElementById(id) as HTMLInputElement
function begin(options?: ScannerOptions) {
  stop = readScanner(window, (code, other) => (scans.push(code), others.push(other)), options)
}

/** Where a sign is on a US keyboard. */
function codeOf(sign: string): string {
  if (/\d/.test(sign)) return `Digit${sign}`
  if (/[a-z]/i.test(sign)) return `Key${sign.toUpperCase()}`
  return { '-': 'Minus', ' ': 'Space', '.': 'Period', '/': 'Slash', ']': 'BracketRight' }[sign] ?? sign
}

/** One key at `now`, let go again; what the page makes of it by itself. */
function press(
  key: string,
  some: KeyboardEventInit = {},
  target: EventTarget = document.activeElement ?? document.body,
): KeyboardEvent {
  const init = { key, code: codeOf(key), bubbles: true, cancelable: true, composed: true, ...some }
  const event = new KeyboardEvent('keydown', init)
  Object.defineProperty(event, 'timeStamp', { value: now })
  target.dispatchEvent(event)
  target.dispatchEvent(new KeyboardEvent('keyup', init))
  return event
}

/** Keys with so many milliseconds between them; the timers run as they would. */
function type(text: string, gap: number, end = ''): void {
  for (const sign of text) {
    press(sign, { shiftKey: /[A-Z]/.test(sign) })
    pass(gap)
  }
  if (end) press(end)
}
function pass(ms: number): void {
  now += ms
  vi.advanceTimersByTime(ms)
}
const heard = () => {
  const keys: string[] = []
  document.addEventListener('keydown', (event) => keys.push(event.key))
  document.addEventListener('keyup', (event) => keys.push(`^${event.key}`))
  return keys
}

describe('a scanner', () => {
  it('is known by its pace, and the page hears none of its keys, Enter included', () => {
    begin()
    const keys = heard()
    at('price').focus()
    type('4006381333931', 8, 'Enter')
    expect(scans).toEqual(['4006381333931'])
    pass(500)
    expect(at('price').value).toBe('')
    expect(keys).toEqual([])
  })

  it('confirms nothing: its Enter presses no button that has the focus', () => {
    begin()
    at('pay').focus()
    type('4006381333931', 8)
    const enter = press('Enter')
    expect(enter.defaultPrevented).toBe(true)
    // The second line end of a scanner that sends two.
    pass(5)
    expect(press('Enter').defaultPrevented).toBe(true)
    expect(press('j', { ctrlKey: true }).defaultPrevented).toBe(true)
    // A person's is one again.
    pass(400)
    expect(press('Enter').defaultPrevented).toBe(false)
    expect(scans).toEqual(['4006381333931'])
  })

  it('is known also where the machine was busy and gave its first keys to the page: they are taken back', () => {
    begin()
    at('price').focus()
    press('4')
    press('0')
    // Its timers come long before the keys that wait, which were pressed in time.
    vi.advanceTimersByTime(300)
    expect(at('price').value).toBe('40')
    now += 8
    type('06381333931', 8, 'Enter')
    expect(scans).toEqual(['4006381333931'])
    expect(at('price').value).toBe('')
  })

  it('may end with Tab, and with the line end as a control character', () => {
    begin()
    type('12345678', 5, 'Tab')
    pass(100)
    type('87654321', 5)
    expect(press('m', { ctrlKey: true }).defaultPrevented).toBe(true)
    expect(scans).toEqual(['12345678', '87654321'])
  })

  it('twenty codes in two seconds are twenty codes in order', () => {
    begin()
    const codes = Array.from({ length: 20 }, (_, number) => `40063813${String(number).padStart(5, '0')}`)
    for (const code of codes) {
      type(code, 6, 'Enter')
      pass(100 - 13 * 6)
    }
    expect(now).toBeLessThanOrEqual(3000)
    expect(scans).toEqual(codes)
  })

  it('is told by the clock of the keyboard: a page that was busy hears all keys at once and loses none', () => {
    begin()
    at('price').focus()
    // The timer of the first key is due before the second one is heard.
    press('4')
    vi.advanceTimersByTime(50)
    for (const sign of '006381333931') {
      now += 8
      press(sign)
    }
    now += 8
    press('Enter')
    expect(scans).toEqual(['4006381333931'])
    expect(at('price').value).toBe('')
  })

  it('a person whose keys are heard late and all at once is no scanner', () => {
    begin()
    at('price').focus()
    for (const sign of '1234') {
      press(sign)
      now += 120
    }
    expect(press('Enter').defaultPrevented).toBe(false)
    pass(200)
    expect(scans).toEqual([])
    expect(at('price').value).toBe('1234')
  })

  it('loses its control characters, but not the one between the parts of a GS1 code', () => {
    begin()
    type('0104', 5)
    press('b', { ctrlKey: true })
    press(']', { ctrlKey: true })
    pass(5)
    type('0638', 5, 'Enter')
    expect(scans).toEqual(['0104\x1d0638'])
  })

  it('loses what was set to stand around a code', () => {
    begin({ prefix: '/', suffix: '.' })
    type('/12345678.', 5, 'Enter')
    expect(scans).toEqual(['12345678'])
  })
})

describe('on a keyboard of another country', () => {
  const french: Record<string, string> = {
    '1': '&',
    '2': 'é',
    '3': '"',
    '4': "'",
    '5': '(',
    '6': '-',
    '7': 'è',
    '8': '_',
    '9': 'ç',
    '0': 'à',
    a: 'q',
    '-': ')',
  }
  const on = (layout: Record<string, string>, text: string) => {
    for (const sign of text) {
      const key = layout[sign.toLowerCase()] ?? sign
      press(/[A-Z]/.test(sign) ? key.toUpperCase() : key, { code: codeOf(sign), shiftKey: /[A-Z]/.test(sign) })
      pass(5)
    }
    press('Enter')
    pass(100)
  }

  it('the digits of a scanner are those of a US keyboard', () => {
    begin()
    on(french, '4006381333931')
    on(french, 'A-12')
    expect(scans).toEqual(['4006381333931', 'A-12'])
  })

  it('a scanner that is set to the country types its digits with shift, and is believed', () => {
    begin()
    for (const sign of '4006381') {
      press(sign, { shiftKey: true })
      pass(5)
    }
    press('Enter')
    expect(scans).toEqual(['4006381'])
  })

  it('the number of a receipt comes through, and what digits have said once holds for letters', () => {
    begin()
    const german = { '-': 'ß', y: 'z', z: 'y' }
    on(german, 'XYZZ')
    expect([scans[0], others[0]]).toEqual(['XZYY', 'XYZZ'])
    on(german, 'S01-02-000123')
    on(german, 'XYZZ')
    expect(scans.slice(1)).toEqual(['S01-02-000123', 'XYZZ'])
  })

  it('digits of the number pad are digits', () => {
    begin()
    for (const sign of '12345678') {
      press(sign, { code: `Numpad${sign}` })
      pass(5)
    }
    press('Enter', { code: 'NumpadEnter' })
    expect(scans).toEqual(['12345678'])
    expect(usSign({ key: 'x', code: 'IntlRo', shift: false })).toBeNull()
  })
})

describe('a person', () => {
  it('finds every letter in the field, in order, a moment later', () => {
    begin()
    at('price').focus()
    const inputs: string[] = []
    at('price').addEventListener('input', () => inputs.push(at('price').value))
    type('19.99', 90)
    expect(at('price').value).toBe('19.99')
    expect(inputs).toEqual(['1', '19', '19.', '19.9', '19.99'])
    expect(press('Enter').defaultPrevented).toBe(false)
    expect(scans).toEqual([])
  })

  it('who is fast for two or three keys is no scanner, and Enter comes after the letters', () => {
    begin()
    at('price').focus()
    let atEnter = ''
    document.addEventListener('keydown', (event) => event.key === 'Enter' && (atEnter = at('price').value))
    type('123', 10, 'Enter')
    expect(atEnter).toBe('123')
    expect(scans).toEqual([])
  })

  it('writes where the cursor is, and over what is chosen', () => {
    begin()
    at('price').value = '100'
    at('price').focus()
    at('price').setSelectionRange(1, 3)
    type('95', 80)
    expect(at('price').value).toBe('195')
  })

  it('keeps to the length of a field, and to what a page forbids', () => {
    begin()
    at('price').maxLength = 2
    at('price').addEventListener('keydown', (event) => event.key === 'x' && event.preventDefault())
    at('price').focus()
    type('1x23', 80)
    expect(at('price').value).toBe('12')
  })

  it('has all keys that do something at once: F keys, arrows, combinations, the space bar on a button', () => {
    begin()
    const keys = heard()
    at('pay').focus()
    for (const [key, some] of [
      ['F2', {}],
      ['Delete', {}],
      ['a', { ctrlKey: true }],
      [' ', {}],
    ] as const) {
      expect(press(key, some).defaultPrevented, key).toBe(false)
    }
    expect(keys.filter((key) => !key.startsWith('^'))).toEqual(['F2', 'Delete', 'a', ' '])
  })

  it('has keys that write and do something, such as the one for Pay, once and a moment later', () => {
    begin()
    const keys = heard()
    at('other').focus()
    press('/')
    expect(keys).toEqual([])
    pass(60)
    expect(keys).toEqual(['/'])
  })

  it('who holds a key down is no scanner', () => {
    begin()
    at('price').focus()
    for (let count = 0; count < 8; count += 1) {
      press('1', { repeat: count > 0 })
      pass(30)
    }
    expect(press('Enter').defaultPrevented).toBe(false)
    expect(scans).toEqual([])
  })

  it('finds what was typed in the field that it was typed into, when the focus moves', () => {
    begin()
    at('price').focus()
    press('7')
    document.dispatchEvent(new Event('pointerdown', { bubbles: true }))
    expect(at('price').value).toBe('7')
  })

  it('after the scanner is not read any more the keys are the page’s own', () => {
    begin()
    stop()
    at('price').focus()
    expect(press('7').defaultPrevented).toBe(false)
  })
})
