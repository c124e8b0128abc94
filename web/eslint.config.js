import { defineConfigWithVueTs, vueTsConfigs } from '@vue/eslint-config-typescript'
import vue from 'eslint-plugin-vue'
import i18n from '@intlify/eslint-plugin-vue-i18n'

/** What parses text as markup, in scripts and in templates. */
const MARKUP = [
  ':matches(MemberExpression > .property, Property > .key)[name=/^(innerHTML|outerHTML|insertAdjacentHTML|srcdoc)$/]',
  ':matches(MemberExpression > .property, Property > .key)[value=/^(innerHTML|outerHTML|insertAdjacentHTML|srcdoc)$/]',
  'CallExpression[callee.object.name=document][callee.property.name=/^write(ln)?$/]',
].map((selector) => ({ selector, message: 'Text is bound, never parsed as markup.' }))

/** What components and elements say by their attributes; tests/literals.test.ts looks into scripts and bound values as well. */
const SAID = [
  ...['about', 'action', 'all', 'alt', 'aria-description', 'aria-label', 'aria-placeholder', 'aria-roledescription'],
  ...['aria-valuetext', 'caption', 'empty', 'heading', 'help', 'hint', 'label', 'placeholder', 'text', 'title', 'what'],
]

export default defineConfigWithVueTs(
  { ignores: ['dist', 'node_modules', 'src/api/codes.ts', 'src/api/**/schema.d.ts', 'src/rules', 'test-results'] },
  vue.configs['flat/recommended'],
  vueTsConfigs.recommended,
  {
    rules: {
      // How tags are laid out is the formatter's business.
      'vue/html-closing-bracket-newline': 'off',
      'vue/html-indent': 'off',
      'vue/html-self-closing': 'off',
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-closing-bracket-spacing': 'off',
      // Pages are named after what they show.
      'vue/multi-word-component-names': 'off',
      // TypeScript knows what may be left out.
      'vue/require-default-prop': 'off',
    },
  },
  {
    files: ['src/**'],
    rules: {
      // Text of stores and people is shown here; every way to put markup into a page is closed.
      'vue/no-v-html': 'error',
      'vue/no-restricted-v-bind': ['error', '/^(inner|outer)-?html$/i', '/^srcdoc$/i'],
      'no-restricted-syntax': ['error', ...MARKUP],
      'vue/no-restricted-syntax': ['error', ...MARKUP],
      'no-eval': 'error',
      'no-new-func': 'error',
      'no-script-url': 'error',
    },
  },
  {
    files: ['src/**/*.vue'],
    plugins: { '@intlify/vue-i18n': i18n },
    rules: {
      // Texts stand in src/texts.
      '@intlify/vue-i18n/no-raw-text': [
        'error',
        {
          attributes: { '/.+/': SAID },
          // What has no two letters in a row is a sign.
          ignorePattern: '^(?!.*\\p{L}{2})',
          ignoreNodes: ['code'],
          ignoreText: ['Tillkeep'],
        },
      ],
    },
  },
)
