/**
 * How a requirement is matched. The rules are those of the server (docs/api.md, section 2; crates/model/src/permission.rs)
 * and are held against the same table of cases.
 */

/** Whether holding `held` satisfies `required`: equality, or a pattern `module.*`, whose dot counts. */
export function matches(required: string, held: string): boolean {
  return required.endsWith('.*') ? held.startsWith(required.slice(0, -1)) : required === held
}

/** Whether one of the `held` codes satisfies one of the `required` ones; an empty requirement is satisfied. */
export function satisfied(required: readonly string[], held: Iterable<string>): boolean {
  if (required.length === 0) return true
  for (const code of held) {
    if (required.some((wanted) => matches(wanted, code))) return true
  }
  return false
}
