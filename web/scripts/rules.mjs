import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Makes src/rules from the description of headquarters: what each field of a form may be, with the types of what
 * the form sends. One file a form, so that a page loads the rules of its own forms only.
 */

/** The forms, with the schemas of what they send: of a new row, and of a change of one. */
export const FORMS = {
  account: ['AccountSent'],
  alertHook: ['NewAlertHook', 'AlertHookEdit'],
  changePin: ['ChangePin'],
  customer: ['CustomerDraft', 'CustomerChange'],
  department: ['DepartmentDraft', 'DepartmentChange'],
  factorCode: ['Code'],
  factorName: ['Named'],
  grant: ['Grant'],
  product: ['ProductDraft', 'ProductChange'],
  provision: ['Provision'],
  reason: ['ReasonDraft', 'ReasonChange'],
  renumber: ['Renumber'],
  resolve: ['Resolve'],
  role: ['RoleDraft', 'RoleChange'],
  salesRep: ['SalesRepDraft', 'SalesRepChange'],
  special: ['SpecialDraft', 'SpecialChange'],
  store: ['StoreDraft', 'StoreChange'],
  storePrice: ['StorePriceChange'],
  taxGroup: ['TaxGroupDraft', 'TaxGroupChange'],
  taxPreview: ['TaxPreviewQuestion'],
  taxRate: ['TaxRateDraft', 'TaxRateChange'],
  tender: ['TenderDraft', 'TenderChange'],
  user: ['UserDraft', 'UserChange'],
}

/** Of a schema, under the name that a form has for it. */
const LIMITS = {
  minLength: 'minLength',
  maxLength: 'maxLength',
  minimum: 'minimum',
  maximum: 'maximum',
  maxItems: 'maxItems',
  pattern: 'pattern',
  enum: 'words',
  default: 'initial',
  'x-not-in-use': 'notInUse',
}

/** A schema with what it refers to, and whether it may be null. */
function resolved(schema, schemas) {
  if (schema.$ref) return { ...resolved(schemas[schema.$ref.split('/').at(-1)], schemas), ...without(schema, '$ref') }
  const { oneOf: either, ...rest } = schema
  if (either?.some(({ type }) => type === 'null')) {
    const [value] = either.filter(({ type }) => type !== 'null')
    return { ...resolved(value, schemas), ...rest, nullable: true }
  }
  return { ...schema, nullable: schema.nullable || (Array.isArray(schema.type) && schema.type.includes('null')) }
}

function without(object, key) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
}

function ruleOf(schema, schemas) {
  const whole = resolved(schema, schemas)
  const limits = Object.entries(LIMITS).filter(([name]) => whole[name] !== undefined && whole[name] !== null)
  const rule = Object.fromEntries(limits.map(([name, ours]) => [ours, whole[name]]))
  // What a pattern asks for is said there.
  if (rule.pattern && whole.description) rule.says = whole.description
  // Of a word that may be none, null is no word.
  if (rule.words) rule.words = rule.words.filter((word) => word !== null)
  return whole.nullable ? { ...rule, nullable: true } : rule
}

/** The rules of a form by field: those of a new row, and of a change what only that has. */
export function rulesOf(names, description) {
  const { schemas } = description.components
  const rules = {}
  for (const name of names) {
    const schema = schemas[name]
    if (!schema) throw new Error(`the description has no schema ${name}; see web/scripts/rules.mjs`)
    for (const [field, value] of Object.entries(schema.properties)) rules[field] ??= ruleOf(value, schemas)
  }
  for (const field of schemas[names[0]].required ?? []) rules[field].required = true
  return rules
}

function text(rules, names) {
  const bodies = names.map((name) => `Schemas['${name}']`)
  return [
    '// Made by web/scripts/rules.mjs from docs/generated/openapi-hq.json; not edited by hand.',
    "import type { Schemas } from '@/api/client'",
    "import type { Rules } from '@/composables/fields'",
    '',
    `export const RULES: Rules<${bodies.join(', ')}> = ${JSON.stringify(rules)}`,
    '',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) {
  const [source, target] = process.argv.slice(2)
  const description = JSON.parse(readFileSync(source, 'utf8'))
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const [form, names] of Object.entries(FORMS)) {
    writeFileSync(`${target}/${form}.ts`, text(rulesOf(names, description), names))
  }
}
