import type en from '../en/reps'

/** Who sales are credited to. */
export default {
  // ListPage
  many: 'Verkäufer',
  one: 'Verkäufer',
  about: 'Wem ein Verkauf gutgeschrieben wird. Kassen nennen einen für den ganzen Verkauf oder eine Position.',
  searches: 'Code oder Name suchen',
  ifDeleted: 'Keine Kasse bietet diesen Namen mehr an. Verkäufe behalten ihn.',
  state: 'Zustand',

  // fields
  net_sales: 'Umsatz ohne Steuer',
  profit: 'Rohertrag',
  code: 'Code',
  codeHelp: 'Kurz und eindeutig: ANN.',
  name: 'Name',
  store: 'Filiale',
  allStores: 'Alle Filialen',
  user: 'Benutzer',
  userHelp: 'Wenn diese Person sich auch an Kassen anmeldet.',
  noUser: 'Keiner',
  email: 'E-Mail',
  telephone: 'Telefon',
  commission: 'Provision',
  commissionOn: 'Provision auf',
  commissionOnHelp: 'Nach Rückgaben, über einen ganzen Zeitraum.',
  active: 'Aktiv',
  activeHelp: 'Aus: Kassen bieten diesen Namen nicht an.',
} satisfies Record<keyof typeof en, string>
