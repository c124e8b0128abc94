import type en from '../en/shell'

export default {
  // The bar.
  brand: 'Tillkeep',
  skip: 'Zum Inhalt springen',
  menu: 'Menü',
  main: 'Hauptmenü',
  search: 'Suchen',
  searchEverything: 'Alles durchsuchen',
  searchKeys: 'Alles durchsuchen: / oder Strg-K (Cmd-K)',
  accountOf: 'Konto von {name}',
  // The menu of the person.
  account: 'Konto und Sitzungen',
  security: 'Sicherheit Ihres Kontos',
  colours: 'Farben',
  system: 'System',
  light: 'Hell',
  contrast: 'Hoher Kontrast',
  language: 'Sprache',
  dark: 'Dunkel',
  signOut: 'Abmelden',
  // Links from a row to what was sold and is there.
  business: 'Was verkauft wurde und da ist',
  sales: 'Verkäufe',
  drawers: 'Kassenschubladen',
  stock: 'Bestand',
  stockEverywhere: 'Bestand in jeder Filiale',
  stockChanges: 'Bestandsänderungen',
  salesAndReturns: 'Verkäufe und Rückgaben',
} satisfies Record<keyof typeof en, string>
