import type en from '../en/shopAccount'

/** Das eigene Konto in einer Filiale. */
export default {
  title: 'Ihr Konto',
  about: 'Sie sind in dieser Filiale als {name} ({username}) angemeldet.',
  signOut: 'Abmelden',
  changePin: 'PIN ändern',
  changePinAbout:
    'Die Zentrale bewahrt sie auf, deshalb muss die Verbindung zu ihr stehen. Alle Ihre anderen Anmeldungen enden, und andere Filialen nehmen die neue PIN, sobald sie abgeglichen haben.',
  sessions: 'Ihre Anmeldungen in dieser Filiale',
  theSessions: 'Ihre Anmeldungen',
  where: 'Wo',
  atTill: 'An der Kasse {till}',
  byName: 'Mit Benutzernamen',
  signedIn: 'Angemeldet',
  goodUntil: 'Gültig bis',
  actions: 'Aktionen',
  thisOne: 'diese hier',
  endOne: 'Beenden',
  endOf: 'Die Anmeldung vom {when} beenden',
  permissions: 'Was Sie hier dürfen',
  askAgain: 'Neu abfragen',
  nothingAllowed: 'Noch nichts. Bitten Sie einen Administrator um eine Rolle.',
  licence: 'Tillkeep ist freie Software unter der Apache License 2.0. Woraus diese Seite besteht, hat {licences}.',
  licences: 'eigene Lizenzen',
} satisfies Record<keyof typeof en, string>
