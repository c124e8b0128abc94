import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router'

export interface Address {
  /** The text of a key; undefined when it is not there or empty. */
  text: (key: string) => string | undefined
  /** Sets keys and removes those that are empty, without a step in the history; the others stay. */
  set: (change: Readonly<Record<string, string | number | undefined>>) => void
}

/** The query of the address, where a page keeps what is chosen: a reload, the back button and a link show the same. */
export function useAddress(): Address {
  const route = useRoute()
  const router = useRouter()

  function text(key: string): string | undefined {
    const value = route.query[key]
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  function set(change: Readonly<Record<string, string | number | undefined>>): void {
    const query: LocationQueryRaw = { ...route.query }
    for (const [key, value] of Object.entries(change)) query[key] = String(value ?? '') || undefined
    void router.replace({ query })
  }

  return { text, set }
}
