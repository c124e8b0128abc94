import ts from 'typescript'
import { GAP, hasWords, reads } from './words'

/** A text for people that stands where it should not, from line 1. */
export interface Found {
  line: number
  text: string
}

/** What is read out or shown, as properties of objects and as attributes. */
export const SHOWN =
  /^(about|all|alt|ariaLabel|aria-(label|description|roledescription|valuetext|placeholder)|caption|empty|heading|help|hint|label|means|note|placeholder|question|remedy|says|section|summary|text|title|unit|what|word)$/
/** Functions that say what they are given first; one of them says all. */
const SAYS = /^(toast|notice|notify|announce|plural)$/
const SAYS_ALL = 'plural'
/** Errors of the platform, which programs tell apart. */
const FAULT = /^(DOMException|TypeError|RangeError)$/
/** They take a selector. */
const SELECTS = /^(querySelector|querySelectorAll|closest|matches)$/
/** The functions of the catalogue, whose first argument is a key: `t`, and what a file calls it to tell two apart. */
const CATALOGUE = /^t([A-Z]\w*)?$|^room$/

const { SyntaxKind } = ts
const OF_VALUES: readonly ts.SyntaxKind[] = [
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
  SyntaxKind.PlusToken,
]
const COMPARES: readonly ts.SyntaxKind[] = [
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.InKeyword,
]

type Text = ts.StringLiteralLike | ts.TemplateExpression
const isText = (node: ts.Node): node is Text => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)

const textOf = (node: Text): string =>
  ts.isStringLiteralLike(node)
    ? node.text
    : node.head.text + node.templateSpans.map(({ literal }) => GAP + literal.text).join('')

function nameOf(node: ts.Node): string {
  if (ts.isPropertyAccessExpression(node)) return node.name.text
  return ts.isIdentifier(node) || ts.isStringLiteral(node) ? node.text : ''
}

/** `['Home', 'End'].includes`: what is looked for among. */
const isAmongCodes = (node: ts.Node): node is ts.PropertyAccessExpression & { expression: ts.ArrayLiteralExpression } =>
  ts.isPropertyAccessExpression(node) && node.name.text === 'includes' && ts.isArrayLiteralExpression(node.expression)

/**
 * Texts for people in a script or an expression. `isShown`: what it comes to is shown as it is, so that one word is enough.
 * `keys` are those of the catalogue, which stand where their texts do.
 */
export function inScript(code: string, keys: ReadonlySet<string> = new Set(), isShown = false): Found[] {
  const file = ts.createSourceFile('part.ts', code, ts.ScriptTarget.Latest, true)
  const found: Found[] = []

  function judge(node: Text, shown: boolean): void {
    const text = textOf(node)
    if (keys.has(text) || !(shown ? hasWords(text.replaceAll(GAP, ' ')) : reads(text))) return
    found.push({ line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1, text })
  }

  /** What is compared with, or names a property, is a code. */
  const skipText = (node: ts.Node): void => void (isText(node) || visit(node, false))

  function call({ expression, arguments: args }: ts.CallExpression, shown: boolean): void {
    const name = nameOf(expression)
    // Parts that are put together are shown where the whole is.
    const isOfParts = ts.isPropertyAccessExpression(expression) && /^(join|filter|concat|flat)$/.test(name)
    if (isAmongCodes(expression)) expression.expression.elements.forEach(skipText)
    else visit(isOfParts ? expression.expression : expression, isOfParts && shown)
    if (CATALOGUE.test(name) || SELECTS.test(name)) args.forEach(skipText)
    else args.forEach((argument, at) => visit(argument, SAYS.test(name) && (at === 0 || name === SAYS_ALL)))
  }

  function binary({ left, operatorToken: { kind }, right }: ts.BinaryExpression, shown: boolean): void {
    if (COMPARES.includes(kind)) return [left, right].forEach(skipText)
    visit(left, shown && OF_VALUES.includes(kind))
    visit(right, shown && (OF_VALUES.includes(kind) || kind === SyntaxKind.AmpersandAmpersandToken))
  }

  function visit(node: ts.Node, shown: boolean): void {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    if (isText(node)) {
      judge(node, shown)
      if (ts.isTemplateExpression(node)) node.templateSpans.forEach(({ expression }) => visit(expression, shown))
    } else if (ts.isConditionalExpression(node)) {
      visit(node.condition, false)
      visit(node.whenTrue, shown)
      visit(node.whenFalse, shown)
    } else if (ts.isBinaryExpression(node)) binary(node, shown)
    else if (ts.isCallExpression(node)) call(node, shown)
    else if (ts.isNewExpression(node) && FAULT.test(nameOf(node.expression))) node.arguments?.forEach(skipText)
    else if (ts.isPropertyAssignment(node)) visit(node.initializer, SHOWN.test(nameOf(node.name)))
    else if (ts.isElementAccessExpression(node)) [node.expression, node.argumentExpression].forEach(skipText)
    else if (ts.isCaseClause(node)) {
      skipText(node.expression)
      node.statements.forEach((statement) => visit(statement, false))
    } else if (ts.isArrowFunction(node)) visit(node.body, shown && !ts.isBlock(node.body))
    else {
      const isAround =
        ts.isParenthesizedExpression(node) ||
        ts.isAsExpression(node) ||
        ts.isSatisfiesExpression(node) ||
        ts.isNonNullExpression(node) ||
        ts.isArrayLiteralExpression(node) ||
        ts.isExpressionStatement(node) ||
        ts.isSourceFile(node)
      ts.forEachChild(node, (child) => visit(child, shown && isAround))
    }
  }

  visit(file, isShown)
  return found
}
