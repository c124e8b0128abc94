import { useRoute, useRouter } from 'vue-router'

export interface Query {
  /** The text of a key; undefined when it is not there or empty. */
  text: (key: string) => string | undefined
  /** Sets keys and takes those out that are empty, without a step in the history; the others stay. */
  set: (change: Readonly<Record<string, string | number | undefined>>) => void
}

/** The query of the address, where a page keeps what is chosen: a reload, the back button and a link show the same. */
export function useQuery(): Query {
  const route = useRoute()
  const router = useRouter()

  function text(key: string): string | undefined {
    const value = route.query[key]
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  function set(change: Readonly<Record<string, string | number | undefined>>): void {
    const texts = Object.entries(change).map(([key, value]) => [key, String(value ?? '') || undefined])
    void router.replace({ query: { ...route.query, ...(Object.fromEntries(texts) as Record<string, string>) } })
  }

  return { text, set }
}
