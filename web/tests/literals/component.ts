import { parse, type SFCBlock } from 'vue/compiler-sfc'
import { inScript, SHOWN, type Found } from './script'
import { hasWords, reads } from './words'

/** Attributes whose words are names of classes, shapes, ids and the like. */
const QUIET =
  /^(class|style|d|points|viewBox|transform|id|for|key|ref|to|href|src|accept|autocomplete|keypath|name|pattern|data-.+|aria-(labelledby|describedby|controls|owns))$/
/** Its text is a code. */
const CODE = 'code'

type Template = NonNullable<NonNullable<ReturnType<typeof parse>['descriptor']['template']>['ast']>
type Child = Template['children'][number]
type Element = Extract<Child, { props: unknown }>
type Prop = Element['props'][number]
interface Expression {
  content: string
  loc: { start: { line: number } }
}

/** Parts of a component, `shift` lines below its beginning. */
const below = (shift: number, found: Found[]): Found[] => found.map(({ line, text }) => ({ line: line + shift, text }))

const isExpression = (node: unknown): node is Expression =>
  typeof node === 'object' && node !== null && 'content' in node

/** Texts for people in a component: in its script, and in its template with all that is bound there. */
export function inComponent(source: string, keys: ReadonlySet<string> = new Set()): Found[] {
  const { script, scriptSetup, template } = parse(source).descriptor

  const ofBlock = (block: SFCBlock | null): Found[] =>
    block ? below(block.loc.start.line - 1, inScript(block.content, keys)) : []
  const ofExpression = (node: unknown, isShown: boolean, wrap = true): Found[] => {
    if (!isExpression(node)) return []
    const code = wrap ? `(${node.content})` : node.content
    return below(node.loc.start.line - 1, inScript(code, keys, isShown))
  }

  function ofProp(prop: Prop): Found[] {
    if (!('exp' in prop)) {
      const text = prop.value?.content ?? ''
      // `name` is that of a field where it is one, and of a list where it has a capital.
      const isText = SHOWN.test(prop.name)
        ? hasWords(text)
        : reads(text) && (!QUIET.test(prop.name) || isListName(prop.name))
      return isText && !keys.has(text) ? [{ line: prop.loc.start.line, text }] : []
    }
    if (prop.name === 'slot') return []
    if (prop.name === 'for') return ofExpression(prop.forParseResult?.source, false)
    if (prop.name === 'on') return ofExpression(prop.exp, false, false)
    const name = isExpression(prop.arg) ? prop.arg.content : ''
    if (QUIET.test(name) && !isListName(name)) return []
    return ofExpression(prop.exp, SHOWN.test(name) || prop.name === 'text')
  }

  function ofNode(node: Child, parent = ''): Found[] {
    if ('props' in node) {
      return [...node.props.flatMap(ofProp), ...node.children.flatMap((child) => ofNode(child, node.tag))]
    }
    if (node.type === 5) return ofExpression(node.content, true)
    if (node.type !== 2 || parent === CODE || !hasWords(node.content)) return []
    const text = node.content.trim().replace(/\s+/g, ' ')
    return [{ line: node.loc.start.line + lead(node.loc.source), text }]
  }

  return [
    ...ofBlock(script),
    ...ofBlock(scriptSetup),
    ...(template?.ast?.children.flatMap((child) => ofNode(child)) ?? []),
  ]
}

const isListName = (name: string): boolean => name === 'name'
/** Lines before the first letter. */
const lead = (text: string): number => text.slice(0, text.search(/\S/)).split('\n').length - 1
