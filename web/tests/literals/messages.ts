import ts from 'typescript'
import { parse } from 'vue/compiler-sfc'
import { CATALOGUES, importsOf, isCatalogue, roomsOf, SOURCES, type Source } from './sources'

/** What the files of the client take from the catalogue. */

/** A call `t('key', { name })`, as far as it is written out. */
export interface Call {
  path: string
  line: number
  key: string
  /** Names that are filled in; null where they are not written there. */
  names: string[] | null
  /** Whether a number chooses the form, which is then filled in as `n`. */
  isCounted: boolean
}

/** Names between the braces of a message. */
export const namesIn = (message: string): string[] => [
  ...new Set([...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
]

/** Literals that may be keys, and the shapes of those that are put together: `${state}Word`. */
function keysIn(text: string): (key: string) => boolean {
  const literals = new Set([...text.matchAll(/(['"`])(\w+)\1/g)].map(([, , key]) => key))
  const shapes = [...text.matchAll(/`(\w*(?:\$\{[^}`]+\}\w*)+)`/g)].map(
    ([, shape = '']) => new RegExp(`^${shape.replace(/\$\{[^}]+\}/g, '\\w+')}$`),
  )
  return (key) => literals.has(key) || shapes.some((shape) => shape.test(key))
}

/** Keys of the catalogue that no file takes, as `room.key`. */
export function unusedKeys(): string[] {
  const speaking = SOURCES.filter((source) => !isCatalogue(source)).map((source) => ({
    ...source,
    rooms: roomsOf(source),
    has: keysIn(source.text),
    imports: importsOf(source),
  }))
  return [...CATALOGUES].flatMap(([room, texts]) => {
    const own = speaking.filter(({ rooms }) => rooms.has(room))
    // A key may be a value or a name of another module: `t(theme)`.
    const imports = new Set(own.flatMap((file) => file.imports))
    const imported = speaking.filter(({ path }) => imports.has(path.replace(/\.ts$/, '')))
    const isUsed = (key: string) =>
      own.some(({ has }) => has(key)) ||
      imported.some(({ has, text }) => has(key) || new RegExp(`\\b${key}: `).test(text)) ||
      speaking.some(({ text }) => new RegExp(`['"\`]${room}\\.${key}['"\`]`).test(text))
    return Object.keys(texts)
      .filter((key) => !isUsed(key))
      .map((key) => `${room}.${key}`)
  })
}

/** What `<i18n-t keypath>` names, which the types do not look at, as `room.key` by file. */
export function keypaths(): { path: string; keypath: string }[] {
  return SOURCES.filter(({ path }) => path.endsWith('.vue')).flatMap(({ path, text }) => {
    const plain = [...text.matchAll(/\skeypath="([^"]+)"/g)].map(([, keypath = '']) => keypath)
    const bound = [...text.matchAll(/\s:keypath="([^"]+)"/g)].flatMap(([, expression = '']) =>
      [...expression.matchAll(/'(\w+\.\w+)'/g)].map(([, keypath = '']) => keypath),
    )
    return [...plain, ...bound].map((keypath) => ({ path, keypath }))
  })
}

/** Calls of `t` in the scripts and templates of a file. */
export function callsIn({ path, text }: Source): Call[] {
  const { script, scriptSetup, template } = path.endsWith('.vue')
    ? parse(text).descriptor
    : { script: { content: text, loc: { start: { line: 1 } } }, scriptSetup: null, template: null }
  const scripts = [script, scriptSetup].flatMap((block) =>
    block ? callsOf(block.content).map((call) => ({ ...call, line: call.line + block.loc.start.line - 1 })) : [],
  )
  // A template is no script; each call in it is one.
  const shown = [...(template?.content.matchAll(/(?<![\w.])t\(/g) ?? [])].flatMap(({ index }) => {
    const above = template!.content.slice(0, index).split('\n').length - 1
    return callsOf(callAt(template!.content, index))
      .slice(-1)
      .map((call) => ({ ...call, line: above + template!.loc.start.line }))
  })
  return [...scripts, ...shown].map((call) => ({ path, ...call }))
}

/** From there to the bracket that closes the first one. */
function callAt(text: string, from: number): string {
  let open = 0
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '(') open += 1
    if (text[at] === ')' && --open === 0) return text.slice(from, at + 1)
  }
  return ''
}

function callsOf(code: string): Omit<Call, 'path'>[] {
  const file = ts.createSourceFile('part.ts', code, ts.ScriptTarget.Latest, true)
  const calls: Omit<Call, 'path'>[] = []
  function visit(node: ts.Node): void {
    ts.forEachChild(node, visit)
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression) || node.expression.text !== 't') return
    const [key, named, number] = node.arguments
    if (!key || !ts.isStringLiteral(key)) return
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
    calls.push({ line, key: key.text, names: namesOf(named), isCounted: number !== undefined })
  }
  visit(file)
  return calls
}

function namesOf(named: ts.Expression | undefined): string[] | null {
  if (!named) return []
  if (!ts.isObjectLiteralExpression(named)) return null
  const names = named.properties.map(({ name }) => (name && ts.isIdentifier(name) ? name.text : null))
  return names.every((name) => name !== null) ? names : null
}

/** Calls that leave a name of their message empty, or fill in one that it does not have. */
export function misfits(): string[] {
  return SOURCES.filter((source) => !isCatalogue(source)).flatMap((source) => {
    const rooms = [...roomsOf(source)].map((room) => CATALOGUES.get(room)!)
    return callsIn(source).flatMap(({ path, line, key, names, isCounted }) => {
      const messages = rooms.flatMap((room) => room[key] ?? [])
      const listed = (all: readonly string[]) =>
        all
          .filter((name) => !isCounted || name !== 'n')
          .toSorted()
          .join()
      const fits = names === null || messages.some((message) => listed(namesIn(message)) === listed(names))
      return fits || messages.length === 0 ? [] : [`src/${path}:${line}: ${key}`]
    })
  })
}
