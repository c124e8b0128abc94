import type en from '../en/account'

/** Your account, and its security. */
export default {
  // AccountPage
  title: 'Ihr Konto',
  about: 'An der Zentrale angemeldet als {name} ({username}).',
  secondFactor: 'Zweiter Faktor',
  signOut: 'Abmelden',
  changePin: 'PIN ändern',
  changePinAbout: 'Alle anderen Sitzungen enden. Filialen nehmen die neue PIN, sobald sie synchronisiert haben.',
  sessions: 'Ihre Sitzungen an der Zentrale',
  roles: 'Ihre Rollen',
  noRole: 'Noch keine Rolle',
  askForRole: 'Bitten Sie einen Administrator darum.',
  role: 'Rolle',
  where: 'Wo sie gilt',
  permissions: 'Was Sie dürfen',
  permissionCount: '0 Berechtigungen | 1 Berechtigung | {n} Berechtigungen',
  licence: 'Tillkeep ist freie Software unter der Apache License 2.0. Die Bestandteile dieser Seite haben {licences}.',
  licences: 'eigene Lizenzen',
  // SecurityPage
  security: 'Sicherheit Ihres Kontos',
  securityAbout: 'Was Sie bei der Anmeldung an der Zentrale neben der PIN zeigen. Kassen fragen nie danach.',
  // FactorCards
  yourFactor: 'Ihr zweiter Faktor',
  factors: 'Passkeys und Apps',
  yourFactors: 'Ihre Passkeys und Apps',
  setUpPasskey: 'Passkey einrichten',
  setUpApp: 'App einrichten',
  noFactor: 'Bisher nur die PIN',
  noFactorAbout:
    'Ein Passkey ist sicherer: Niemand kann ihn sich erschleichen. Eine App auf dem Telefon funktioniert überall.',
  name: 'Name',
  kind: 'Art',
  setUp: 'Eingerichtet',
  lastUsed: 'Zuletzt benutzt',
  actions: 'Optionen',
  passkey: 'Passkey',
  app: 'Authenticator-App',
  remove: 'Entfernen',
  removeOne: '{name} entfernen',
  removeTitle: '{name} entfernen?',
  removeLast:
    'Es ist der letzte. Danach reicht die PIN allein zur Anmeldung, und die Wiederherstellungscodes sind wertlos.',
  removeOther: 'Damit ist keine Anmeldung mehr möglich. Die anderen und die Wiederherstellungscodes bleiben gültig.',
  removed: '{name} ist entfernt.',
  isSetUp: 'Der zweite Faktor ist eingerichtet.',
  recoveryCodes: 'Wiederherstellungscodes',
  recoveryCodesAbout: 'Jeder gilt für eine Anmeldung, wenn Passkey oder App nicht zur Hand ist.',
  codesLeft: 'Keiner mehr übrig. Erzeugen Sie neue, bevor Sie einen brauchen. | 1 Code übrig. | {n} Codes übrig.',
  newCodes: 'Neue erzeugen',
  newCodesTitle: 'Neue Wiederherstellungscodes erzeugen?',
  newCodesAbout: 'Sie werden einmal angezeigt. Die bisherigen sind dann wertlos.',
  // What headquarters asks for
  askedOfNone:
    'Die Zentrale verlangt derzeit keinen zweiten Faktor. Was Sie hier einrichten, wird verlangt, sobald das eingeschaltet ist.',
  askedOfYou: 'Wer sich hier als Sie anmeldet, braucht die PIN und einen davon.',
  askedAndRequired:
    'Wer sich hier als Sie anmeldet, braucht die PIN und einen davon. Einer ist Pflicht, weil Ihre Rechte über eine Filiale hinausgehen.',
  required:
    'Ihre Rechte gehen über eine Filiale hinaus, deshalb ist ein zweiter Faktor Pflicht. Vorher öffnet sich nichts anderes.',
  pinAlone:
    'Hier reicht Ihre PIN allein, und wer sie beim Tippen sieht, kann sich als Sie anmelden. Mit einem zweiten Faktor braucht es mehr.',
  // AddApp
  appTitle: 'Authenticator-App einrichten',
  appAbout:
    'Eine App auf dem Telefon, die jede halbe Minute einen neuen Code zeigt, wie für die Zwei-Faktor-Anmeldung anderswo.',
  nameHelp: 'Zur Unterscheidung von anderen.',
  goOn: 'Weiter',
  cancel: 'Abbrechen',
  qrCode: 'Das Geheimnis der App als QR-Code',
  scan: 'Mit der App scannen. Falls das nicht geht, das Geheimnis eintippen:',
  secret: 'Geheimnis',
  copySecret: 'Geheimnis kopieren',
  appCode: 'Code, den die App zeigt',
  appCodeHelp: 'Jede halbe Minute gibt es einen neuen. Wird keiner angenommen, prüfen Sie die Uhr des Telefons.',
  confirm: 'Bestätigen',
  // AddPasskey
  passkeyAbout:
    'Ihr Gerät oder ein Sicherheitsschlüssel bewahrt ihn auf und fragt nach Finger, Gesicht oder eigener PIN. Der Browser fragt gleich, welches.',
  passkeyNameHelp: 'Zur Unterscheidung von anderen: wo er ist, etwa „Laptop“ oder „Schlüsselbund“.',
  setItUp: 'Einrichten',
  // RecoveryCodes
  codesTitle: 'Ihre Wiederherstellungscodes',
  codesAbout:
    'Für den Fall, dass App oder Passkey verloren oder nicht zur Hand ist. Sie werden nur dieses eine Mal angezeigt: kopieren, drucken oder speichern und getrennt vom Telefon aufbewahren.',
  toBeKept: 'Zum Aufbewahren',
  codesKept: 'Ich habe sie gesichert',
  leaveTitle: 'Ohne die Wiederherstellungscodes fortfahren?',
  leaveAbout:
    'Sie werden nicht noch einmal angezeigt. Ohne sie hilft bei verlorenem zweiten Faktor nur ein Administrator oder die Kommandozeile.',
  sheetTitle: 'Wiederherstellungscodes für Tillkeep',
  sheetUser: 'Benutzername: {username}',
  sheetAddress: 'Adresse: {address}',
  sheetAbout:
    'Jeder gilt zusammen mit der PIN für eine Anmeldung, wenn App oder Passkey nicht zur Hand ist. Dort aufbewahren, wo sie sonst niemand liest.',
} satisfies Record<keyof typeof en, string>
