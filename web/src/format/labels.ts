import { i18n } from '@/texts'

/** Names of the contract as words for people. */

/** `product_barcodes` → `Product barcodes`, `receiptsMissing` → `Receipts missing`. */
export function words(name: string): string {
  const spaced = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_.]/g, ' ')
    .toLowerCase()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** A title as it stands inside a sentence: small in English; German nouns keep their capital everywhere. */
export const inSentence = (title: string): string =>
  i18n.global.locale.value.startsWith('en') ? title.toLowerCase() : title
