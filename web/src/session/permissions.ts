/**
 * How a requirement is matched. The rules are those of the server (docs/api.md, section 2; crates/model/src/permission.rs)
 * and are held against the same table of cases.
 */

/** Whether holding `held` satisfies `required`: equality, or a pattern `module.*`, with its dot. */
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

/** Where a permission has to be held: in all stores, or in the one with this id. */
export type Where = 'everywhere' | (string & {})

/** A user with what they may do in some store, and what each of their roles allows where. */
export interface Holder {
  permissions: readonly string[]
  roles: readonly { storeId?: string | null; permissions: readonly string[] }[]
}

/** Whether the user holds one of the `codes`. Without `where` it is enough to hold it in some store. */
export function holds({ permissions, roles }: Holder, codes: readonly string[], where?: Where): boolean {
  if (where === undefined) return satisfied(codes, permissions)
  const counts = roles.filter(({ storeId }) => !storeId || storeId === where)
  return satisfied(
    codes,
    counts.flatMap((role) => role.permissions),
  )
}
