import type { Paper } from '../contract'

/** What a paper consists of. Everything else is left out: a paper shows, and does nothing. */
const ELEMENTS =
  /^(p|b|i|span|hr|br|figure|figcaption|svg|g|path|rect|h[1-6]|div|table|thead|tbody|tr|th|td|strong|em)$/
const ATTRIBUTES = /^(class|lang|dir|d|x|y|width|height|fill|viewBox|preserveAspectRatio|shape-rendering|colspan)$/
/** Browsers that print in the background say when it is over; others do not say it. */
const KEEP_MS = 60_000

/**
 * Prints a paper by the browser. It is built node by node in a frame of this page, with its style as a sheet of its own: the
 * policy of the page lets no script and no style in that stands in a text.
 */
export function printPaper(paper: Paper): void {
  const frame = document.createElement('iframe')
  frame.className = 'print-frame'
  frame.setAttribute('aria-hidden', 'true')
  frame.tabIndex = -1
  // Not `display: none`: some browsers print nothing of that. Set by script, which the policy allows.
  Object.assign(frame.style, {
    position: 'fixed',
    right: '0',
    bottom: '0',
    width: '1px',
    height: '1px',
    border: '0',
    opacity: '0',
  })
  document.body.append(frame)
  const view = frame.contentWindow
  const inside = frame.contentDocument
  if (!view || !inside) return frame.remove()
  fill(inside, view, paper.html)
  const over = () => frame.remove()
  view.addEventListener('afterprint', () => setTimeout(over, 0))
  setTimeout(over, KEEP_MS)
  view.focus()
  view.print()
}

/** Puts what `html` shows into `target`. */
export function fill(target: Document, view: Window, html: string): void {
  const source = new DOMParser().parseFromString(html, 'text/html')
  target.title = source.title
  if (source.documentElement.lang) target.documentElement.lang = source.documentElement.lang
  const styles = [...source.querySelectorAll('style')].map((style) => style.textContent ?? '').join('\n')
  adopt(target, view, styles)
  target.body.replaceChildren(...copies(source.body, target))
}

function adopt(target: Document, view: Window, styles: string): void {
  const Sheet = (view as Window & { CSSStyleSheet?: typeof CSSStyleSheet }).CSSStyleSheet
  if (!Sheet) return
  const sheet = new Sheet()
  sheet.replaceSync(styles)
  target.adoptedStyleSheets = [sheet]
}

function copies(from: Element, target: Document): Node[] {
  return [...from.childNodes].flatMap((node): Node[] => {
    if (node.nodeType === Node.TEXT_NODE) return [target.createTextNode(node.textContent ?? '')]
    if (node.nodeType !== Node.ELEMENT_NODE) return []
    const element = node as Element
    if (!ELEMENTS.test(element.localName)) return []
    const copy = target.createElementNS(element.namespaceURI, element.localName)
    for (const { name, value } of element.attributes) if (ATTRIBUTES.test(name)) copy.setAttribute(name, value)
    copy.append(...copies(element, target))
    return [copy]
  })
}
