import type { Rule } from '../src/composables/fields'

export const FORMS: Readonly<Record<string, readonly string[]>>
export function rulesOf(names: readonly string[], description: object): Record<string, Rule>
