import type en from '../en/tenders'

/** What customers pay with. */
export default {
  // ListPage
  many: 'Zahlarten',
  one: 'Zahlart',
  about: 'Womit Kunden zahlen. Jede Filiale nimmt dieselben.',
  searches: 'Code oder Name suchen',
  ifDeleted: 'Keine Kasse nimmt sie mehr an. Bons behalten sie.',
  state: 'Zustand',

  // fields
  cash: 'Bargeld',
  card: 'Karte',
  check: 'Scheck',
  voucher: 'Gutschein',
  on_account: 'Kundenkonto',
  gift_card: 'Geschenkkarte',
  store_credit: 'Guthaben',
  exchange: 'Umtausch',
  other: 'Andere',
  code: 'Code',
  codeHelp: 'Kurz und eindeutig: CARD.',
  name: 'Name',
  nameHelp: 'Wie Kassen und Bons sie zeigen.',
  kind: 'Art',
  kindHelp: 'Später nicht änderbar. Eine Filialkette hat eine aktive Zahlart der Art Bargeld.',
  kindFixed: 'Steht fest: Für eine andere Art eine andere Zahlart anlegen.',
  order: 'Reihenfolge',
  orderHelp: 'Kleinere Zahlen kommen an Kassen zuerst.',
  from: 'Ab',
  upTo: 'Bis',
  anyAmount: 'Leer: jeder Betrag.',
  givesChange: 'Gibt Rückgeld',
  givesChangeHelp: 'Was über die Summe hinaus gezahlt wird, kommt bar zurück.',
  opensDrawer: 'Öffnet die Kassenschublade',
  asksReference: 'Verlangt eine Referenz',
  asksReferenceHelp: 'Etwa die Nummer eines Schecks.',
  asksCustomer: 'Verlangt einen Kunden',
  active: 'Aktiv',
  activeHelp: 'Aus: Kassen nehmen sie nicht an.',
} satisfies Record<keyof typeof en, string>
