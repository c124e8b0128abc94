import { shallowRef } from 'vue'

/** What was just done or refused, for eyes and for screen readers; replaced by the next. */
export interface Said {
  tone: 'good' | 'warn' | 'bad'
  text: string
}

export const said = shallowRef<Said | null>(null)

export function say(text: string, tone: Said['tone'] = 'good'): void {
  said.value = { text, tone }
}

export function saidNothing(): void {
  said.value = null
}
