import { ref } from 'vue'

export interface Toast {
  id: number
  tone: 'good' | 'bad'
  text: string
}

/** Short messages about what was done; read aloud by screen readers. */
export const toasts = ref<Toast[]>([])
let last = 0

export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  last += 1
  toasts.value.push({ id: last, tone, text })
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}
