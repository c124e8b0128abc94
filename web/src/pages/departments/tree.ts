import type { Schemas } from '@/api/client'

export type Department = Schemas['Department']

/** A department with where it stands in the tree. */
export type Placed = Department & { depth: number; path: string }

const byPlace = (one: Department, other: Department) =>
  one.sortOrder - other.sortOrder || one.name.localeCompare(other.name)

/** All of them as a tree: each below the one that it is in. What is in none that is known stands at the top. */
export function arranged(departments: readonly Department[]): Placed[] {
  const known = new Set(departments.map(({ id }) => id))
  const below = new Map<string | null, Department[]>()
  for (const department of departments) {
    const { parentId } = department
    const place = parentId && known.has(parentId) ? parentId : null
    below.set(place, [...(below.get(place) ?? []), department])
  }
  const placed = (parent: string | null, depth: number, above: string): Placed[] =>
    (below.get(parent) ?? []).sort(byPlace).flatMap((department) => {
      const path = above ? `${above} › ${department.name}` : department.name
      return [{ ...department, depth, path }, ...placed(department.id, depth + 1, path)]
    })
  return placed(null, 0, '')
}

/** Those that `search` names, with what they are in. */
export function searched(tree: readonly Placed[], search: string | undefined): Placed[] {
  if (!search) return [...tree]
  const parts = search.toLowerCase().split(/\s+/)
  const kept = new Set<string>()
  const byId = new Map(tree.map((department) => [department.id, department]))
  for (const department of tree) {
    const text = `${department.code} ${department.name}`.toLowerCase()
    if (!parts.every((part) => text.includes(part))) continue
    for (let at: Placed | undefined = department; at; at = byId.get(at.parentId ?? '')) kept.add(at.id)
  }
  return tree.filter(({ id }) => kept.has(id))
}

/** Where `moved` may be put: everywhere but in itself and what is below it. */
export function placesFor(tree: readonly Placed[], moved: string | undefined): { value: string; label: string }[] {
  const at = tree.findIndex(({ id }) => id === moved)
  const next = tree.findIndex(({ depth }, index) => index > at && depth <= (tree[at]?.depth ?? 0))
  const own = at < 0 ? [] : tree.slice(at, next < 0 ? undefined : next)
  const isOwn = new Set(own.map(({ id }) => id))
  return tree.filter(({ id }) => !isOwn.has(id)).map(({ id, path }) => ({ value: id, label: path }))
}
