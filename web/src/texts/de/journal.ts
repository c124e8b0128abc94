import type en from '../en/journal'

/** Das Journal der Geschäftstage, und die Konten, auf die es bucht. */
export default {
  // JournalPage
  title: 'Journal',
  about:
    'Geschäftstage in doppelter Buchführung, für Buchhalter: was verkauft, versteuert und bezahlt wurde, Kassenschubladen und Tresor.',
  // JournalCard, journal.ts
  journal: 'Journal',
  theJournal: 'das Journal',
  from: 'Tag',
  to: 'Bis',
  view: 'Ansicht',
  byAccount: 'Nach Konto',
  byLine: 'Zeile für Zeile',
  csv: 'Journal herunterladen (CSV)',
  file: 'Journal',
  day: 'Tag',
  store: 'Filiale',
  account: 'Konto',
  what: 'Was',
  code: 'Code',
  debit: 'Soll',
  credit: 'Haben',
  balance: 'Saldo',
  actions: 'Aktionen',
  totalIn: 'Summe in {currency}',
  openDrawers:
    'Keine Kassenschublade ist offen. | Eine Kassenschublade ist noch offen: Das Journal kann sich ändern. | {n} Kassenschubladen sind noch offen: Das Journal kann sich ändern.',
  nothing: 'Nichts ist gebucht',
  nothingText: 'Wählen Sie einen anderen Tag oder eine andere Filiale.',
  // AccountsCard
  accounts: 'Konten',
  accountsAbout:
    'Worauf das Journal bucht, in allen Filialen und an jedem Tag, nach dem von nun an gefragt wird. Ein Steuersatz, eine Zahlungsart oder ein Grund kann ein eigenes Konto haben.',
  usual: 'üblich',
  newAccount: 'Konto für einen Code',
  change: 'Ändern',
  changeOne: 'Konto ändern: {what}',
  // AccountDialog
  changeAbout: 'Journale, die vorher geholt wurden, behalten ihre Konten.',
  accountHelp: 'Leer für {account}.',
  codeHelp:
    'Eines Steuersatzes, einer Zahlungsart oder eines Grundes; mehrerer Sätze auf einer Zeile, wie das Journal sie schreibt: STATE+CITY.',
  hasOne: 'hat schon das Konto {account}: Ändern Sie es in der Liste',
  save: 'Speichern',
  saved: 'Das Konto ist gespeichert.',
  // kinds.ts
  placeOf: '{what}, {code}',
  cash: 'Bargeld in Kassenschubladen',
  safe: 'Bargeld im Tresor',
  deposit: 'Bargeld auf dem Weg zur Bank',
  card: 'Forderungen aus Kartenzahlungen',
  check: 'Erhaltene Schecks',
  voucher: 'Forderungen aus Gutscheinen',
  other: 'Forderungen aus anderen Zahlungen',
  on_account: 'Kundenkonten',
  exchange: 'Umtausch',
  gift_card: 'Geschenkkarten',
  store_credit: 'Guthaben',
  tax: 'Abzuführende Steuer',
  revenue: 'Verkäufe',
  returns: 'Rückgaben',
  paid_in: 'Sonstige Einzahlungen in Kassenschubladen',
  paid_out: 'Ausgaben aus Kassenschubladen',
  cash_rounding: 'Rundung von Bargeld',
  cash_variance: 'Kassendifferenzen',
  safe_correction: 'Korrekturen des Tresors',
  difference: 'Zu klären',
} satisfies Record<keyof typeof en, string>
