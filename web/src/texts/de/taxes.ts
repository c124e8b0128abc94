import type en from '../en/taxes'

/** Taxes: groups, rates, and what a price comes to. */
export default {
  // TaxTabs.vue
  groups: 'Steuergruppen',
  rates: 'Steuersätze',
  tabs: 'Steuergruppen und -sätze',

  // GroupsPage.vue
  group: 'Steuergruppe',
  groupAbout: 'Jeder Artikel hat eine. Sie sagt, welche Sätze berechnet werden und ob Preise sie enthalten.',
  groupIfDeleted:
    'Bons behalten, was berechnet wurde. Eine Gruppe, die Artikel haben, lässt sich nicht löschen: Geben Sie ihnen zuerst eine andere.',
  chooseRates: 'Wählen Sie in jeder Zeile einen Satz, oder entfernen Sie die Zeile.',
  code: 'Code',
  columnRates: 'Sätze',
  name: 'Name',
  no: '–',
  prices: 'Preise',
  search: 'Code oder Name suchen',
  state: 'Zustand',
  usual: 'Üblich',
  yes: 'ja',

  // RatesPage.vue
  authority: 'Geht an',
  onReceipts: 'Auf Bons',
  rate: 'Steuersatz',
  rateAbout: 'Was berechnet wird. Ein Artikel hat eine Steuergruppe, und die Gruppe hat einen oder mehrere Sätze.',
  rateColumn: 'Satz',
  rateIfDeleted:
    'Bons behalten, was berechnet wurde. Ein Satz, den eine Gruppe hat, lässt sich nicht löschen: Nehmen Sie ihn dort zuerst heraus.',

  // RateFields.vue
  addFirst: 'Zuerst einen anlegen',
  addRate: 'Satz hinzufügen',
  allStores: 'Alle Filialen',
  chooseRate: 'Satz wählen',
  compound: 'Auf andere Steuern',
  compoundOf: 'Satz {n} auf andere Steuern',
  howRates:
    'Eine hier genannte Filiale hat nur ihre eigenen Sätze. Ein Satz auf andere Steuern gilt für den Preis samt den Steuern darüber.',
  noRate: 'Ohne Satz wird keine Steuer berechnet.',
  noRateYet: 'Es gibt noch keinen Steuersatz. {link}',
  ofRate: 'Satz {n}',
  order: 'Sätze, in der Reihenfolge der Berechnung',
  removeRate: 'Satz {n} entfernen',
  whereRate: 'Wo Satz {n} gilt',

  // TaxPreview.vue
  amount: 'Betrag',
  contains: 'enthält die Steuer',
  net: 'Netto',
  of: 'Basis',
  preview: 'Was ein Preis ergibt',
  price: 'Preis',
  quantity: 'Menge',
  ratesOfAll: 'Sätze aller Filialen',
  store: 'Filiale',
  tax: 'Steuer',
  taxes: 'Steuern',
  taxGroup: 'Steuergruppe',
  total: 'Summe',
  without: 'ohne Steuer',
  workOut: 'Berechnen',

  // fields.ts
  active: 'Aktiv',
  authorityHelp: 'Die Behörde, die sie erhält.',
  defaultGroup: 'Übliche Gruppe',
  defaultGroupHelp: 'Neue Artikel beginnen damit.',
  groupCodeHelp: 'Kurz und eindeutig: STD.',
  letter: 'Buchstabe auf Bons',
  letterHelp: 'Kennzeichnet Positionen mit dieser Steuer, etwa A.',
  modeExclusive: 'Die Steuer kommt hinzu',
  modeInclusive: 'Preise enthalten die Steuer',
  modeStore: 'Wie die Filiale es festlegt',
  nameHelp: 'Wie Bons ihn zeigen.',
  rateActiveHelp: 'Aus: Er wird nicht mehr berechnet.',
  rateCodeHelp: 'Kurz und eindeutig: NY.',

  // rates.ts
  compoundRate: '{rate} (auf andere Steuern)',
  noTax: 'Keine Steuer',
  otherRates: 'andere Sätze in einer Filiale | andere Sätze in {n} Filialen',
  rateName: '{name} {percent}',
  unknownRate: '?',
} satisfies Record<keyof typeof en, string>
