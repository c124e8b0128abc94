/** Names the tab, and with it the entry in the history: by the page, and by what is open in it as soon as that is known. */
export function titleTab(title: string | undefined): void {
  document.title = title ? `${title} · Tillkeep` : 'Tillkeep'
}
