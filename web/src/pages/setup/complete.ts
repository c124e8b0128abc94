/** Who has seen that nothing is missing: Home does not ask again as long as this tab is open. */
let person: string | undefined

export const isComplete = (id: string | undefined): boolean => id !== undefined && id === person

export function noteComplete(id: string | undefined): void {
  person = id
}
