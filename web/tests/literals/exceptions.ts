/** Literals that read as words and are none for people. */
export interface Exception {
  /** From `src` on; everywhere without one. */
  path?: string
  text: RegExp
  why: string
}

export const EXCEPTIONS: readonly Exception[] = [
  { text: /^(\{\} · )?Tillkeep$/, why: 'the name of the program is the same in every language' },
  { text: /^\([a-z-]+: [a-z]+\)$/, why: 'what a stylesheet asks of a medium' },
  { text: /^Bearer \{\}$/, why: 'a header' },
  { path: 'pages/drawers/drawers.ts', text: /^bad-text strong$/, why: 'names of classes' },
  { path: 'pages/reports/ZzPage.vue', text: /^zz$/, why: 'what a query is kept by' },
  { path: 'pages/stores/command.ts', text: /^\( (umask|set) /, why: 'commands of a shell' },
]
