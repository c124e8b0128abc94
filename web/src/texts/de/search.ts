import type en from '../en/search'

export default {
  // The dialog.
  title: 'Alles durchsuchen',
  placeholder: 'Bon, Artikel, Kunde, Filiale, Person, Seite',
  close: 'Suche schließen',
  found: 'Treffer',
  keys: '↑ ↓ wählen, Enter öffnet, Esc schließt',
  // What it says of itself.
  hint: 'Das Ende einer Bonnummer oder einen Teil eines Namens, Codes oder einer Nummer eingeben.',
  more: 'Mindestens {n} Zeichen eingeben.',
  searching: 'Sucht …',
  nothing: 'Nichts heißt „{text}“. Ein Bon wird an mindestens den letzten {n} Zeichen seiner Nummer erkannt.',
  results: 'nichts | 1 Treffer | {n} Treffer',
  leftOut: 'Keine rechtzeitige Antwort zu: {kinds}.',
  again: 'Erneut suchen',
  // Kinds of what is found.
  pages: 'Seiten',
  receipts: 'Bons',
  newestReceipts: 'Bons (die neuesten {n})',
  products: 'Artikel',
  customers: 'Kunden',
  stores: 'Filialen',
  people: 'Personen',
  allProducts: 'Alle Artikel mit „{text}“',
  allCustomers: 'Alle Kunden mit „{text}“',
  allStores: 'Alle Filialen mit „{text}“',
  allPeople: 'Alle Personen mit „{text}“',
  // What is known of one of them.
  refund: 'Rückgabe',
  settlement: 'Zahlung auf Kundenkonto',
  voided: 'Storniert',
  inactive: 'Inaktiv',
} satisfies Record<keyof typeof en, string>
