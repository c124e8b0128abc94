import { ref, watch, type Ref } from 'vue'

/**
 * A choice that this browser keeps, the same in all of its windows. Where it keeps nothing it holds until the page is
 * closed.
 */
export function useKept<Choice extends string>(key: string, otherwise: Choice): Ref<Choice> {
  const choice = ref(read()) as Ref<Choice>
  function read(): Choice {
    try {
      return (localStorage.getItem(key) as Choice | null) ?? otherwise
    } catch {
      return otherwise
    }
  }
  watch(
    choice,
    (chosen) => {
      try {
        if (chosen !== read()) localStorage.setItem(key, chosen)
      } catch {
        // Full, or forbidden.
      }
    },
    { flush: 'sync' },
  )
  window.addEventListener('storage', (event) => {
    if (event.key === key || event.key === null) choice.value = read()
  })
  return choice
}
