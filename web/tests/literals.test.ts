import { describe, expect, it } from 'vitest'
import { inComponent } from './literals/component'
import { EXCEPTIONS, type Exception } from './literals/exceptions'
import { inScript, type Found } from './literals/script'
import { isCatalogue, keysOf, roomsOf, SOURCES, type Source } from './literals/sources'

/** Every text that people read stands in the catalogue, src/texts/en, and nowhere else. */

/** What is made from the description of the server. */
const isMade = ({ path }: Source) => path === 'api/codes.ts' || path.startsWith('rules/')

const literalsOf = (source: Source): Found[] =>
  (source.path.endsWith('.vue') ? inComponent : inScript)(source.text, keysOf(roomsOf(source)))

const isExcept =
  ({ path }: Source, { text }: Found) =>
  (exception: Exception) =>
    (exception.path === undefined || exception.path === path) && exception.text.test(text)

const FOUND = SOURCES.filter((source) => !isCatalogue(source) && !isMade(source)).flatMap((source) =>
  literalsOf(source).map((found) => ({ source, found })),
)

describe('texts of the client', () => {
  it('stand in the catalogue', () => {
    const left = FOUND.filter(({ source, found }) => !EXCEPTIONS.some(isExcept(source, found)))
    const lines = left.map(({ source, found }) => `src/${source.path}:${found.line}: ${JSON.stringify(found.text)}`)
    expect(lines, `${lines.length} texts outside of the catalogue:\n${lines.join('\n')}\n`).toHaveLength(0)
  })

  it.each(EXCEPTIONS.map((exception) => [`${exception.path ?? 'anywhere'} ${exception.text}`, exception] as const))(
    'have an exception that is still needed: %s',
    (_, exception) => {
      expect(exception.why).toMatch(/\w/)
      expect(FOUND.some(({ source, found }) => isExcept(source, found)(exception))).toBe(true)
    },
  )
})

describe('a planted text', () => {
  const script = (code: string) => inScript(code).map(({ text }) => text)
  const template = (code: string) => inComponent(`<template>${code}</template>`).map(({ text }) => text)

  it.each([
    ["const FIELDS = [{ key: 'name', label: 'name' }]", 'name'],
    ["toast('saved', 'bad')", 'saved'],
    ['toast(`${name} is created.`)', '{} is created.'],
    ["const title = isNew ? 'New store' : name", 'New store'],
    ["throw new ApiError(422, 'validation', 'Choose a role in each row.')", 'Choose a role in each row.'],
    ["return 'Headquarters'", 'Headquarters'],
    ["const words = { [code]: 'It has no lines.' }", 'It has no lines.'],
    ['const one = `till ${number}`', 'till {}'],
    ["confirmed({ title: t('sure'), action: 'Delete' })", 'Delete'],
    ["const help = { help: [first, isWhole && 'whole'].filter(Boolean).join(' ') }", 'whole'],
    ["plural(count, 'store')", 'store'],
    ["const ask = { text: (user) => user.name + ' leaves' }", ' leaves'],
    ["errors.day = 'is needed beside the time'", 'is needed beside the time'],
    ["function of() { switch (kind) { case 'One kind': return 'Another kind' } }", 'Another kind'],
  ])('is found in %s', (code, text) => {
    expect(script(code)).toEqual([text])
  })

  it.each([
    ['<p>Nothing yet</p>', 'Nothing yet'],
    ['<p>none</p>', 'none'],
    ['<button aria-label="close" />', 'close'],
    ['<img alt="Logo">', 'Logo'],
    ['<input placeholder="type here">', 'type here'],
    ['<ListCard name="Users" />', 'Users'],
    ['<EntityForm action="Create user" />', 'Create user'],
    ['<LoadState what="stores" />', 'stores'],
    ["<p>{{ isOn ? 'yes' : t('no') }}</p>", 'yes'],
    ['<p>{{ `${count} more` }}</p>', '{} more'],
    ['<p :title="`Since ${when}`" />', 'Since {}'],
    ['<p :title="when ?? \'never\'" />', 'never'],
    ["<PageHeader :back=\"{ to: { name: 'users' }, label: 'users' }\" />", 'users'],
    ['<button @click="remove(\'Removed it\')" />', 'Removed it'],
    ['<li v-for="one in [\'First part\', two]">{{ one }}</li>', 'First part'],
    ['<p v-text="\'gone\'" />', 'gone'],
  ])('is found in %s', (code, text) => {
    expect(template(code)).toEqual([text])
  })

  it.each([
    "import { a } from './Some file'",
    "type Kind = 'Some kind' | 'Other'",
    "t('title', { name })",
    "if (event.key === 'Enter') go()",
    'const path = `/hq/stores/${id}`',
    "router.push({ name: 'users', params: { id } })",
    "const COLUMNS = [{ key: 'code', label: t('code'), align: 'end' }]",
    "fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } })",
    "const [currency, zone] = ['USD', 'Europe/Berlin']",
    "parts['Some part']",
    "row.closest('a, button, input')",
    "const FIELDS = 'input:not([type=radio]), select, textarea'",
    "if (['Home', 'End'].includes(event.key)) go()",
    "throw new DOMException('nothing was given', 'NotAllowedError')",
    'const at = `${day}T${time}:00Z`',
  ])('is not seen in %s', (code) => {
    expect(script(code)).toEqual([])
  })

  it.each([
    '<p class="soft small">{{ t(\'none\') }}</p>',
    '<p>–, {{ name }} · {{ code }}</p>',
    '<code>public_url</code>',
    '<input name="displayName" autocomplete="one-time-code" aria-labelledby="one two">',
    '<p :class="{ \'button primary\': isOn }" :to="{ name: \'users\' }" />',
    '<template #cell-name="{ row = \'Some row\' }">{{ row }}</template>',
    '<path d="M Lorem 0 Ipsum 1" />',
    '<i18n-t keypath="users.lastSaleAt" scope="global" />',
  ])('is not seen in %s', (code) => {
    expect(template(code)).toEqual([])
  })

  it('is named with its line', () => {
    const component =
      "<script setup lang=\"ts\">\nconst a = 1\ntoast('It is done')\n</script>\n\n<template>\n  <p>\n    Below\n    {{\n      a\n        ? 'first'\n        : 2\n    }}\n  </p>\n</template>\n"
    expect(inComponent(component)).toEqual([
      { line: 3, text: 'It is done' },
      { line: 8, text: 'Below' },
      { line: 11, text: 'first' },
    ])
  })
})
