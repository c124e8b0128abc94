import type { Rules, Values } from '../src/composables/fields'

export const FORMS: Readonly<Record<string, readonly string[]>>
export function rulesOf(names: readonly string[], description: object): Rules<Values>
