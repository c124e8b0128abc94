import { words } from './labels'
import { t } from './texts'

/** Permission codes as words for people, by module: `reports.x_report` is "X report" of "Reports". */

export interface Module {
  module: string
  permissions: string[]
  /** Those of them that nothing asks for yet. */
  notInUse?: string[]
}

export function moduleName(module: string): string {
  // Its code does not say what it is.
  return module === 'pos' ? t('modulePos') : words(module)
}

/** `pos.discount.override_max` → `Discount override max`. */
export function codeName(code: string): string {
  return words(code.slice(code.indexOf('.') + 1))
}

/** Codes by their modules, in the order of the modules' names. */
export function byModule(codes: readonly string[]): Module[] {
  const modules = new Map<string, string[]>()
  for (const code of codes) {
    const module = code.slice(0, code.indexOf('.'))
    modules.set(module, [...(modules.get(module) ?? []), code])
  }
  return [...modules]
    .map(([module, permissions]) => ({ module, permissions }))
    .sort((one, other) => moduleName(one.module).localeCompare(moduleName(other.module)))
}
