import type en from '../en/users'

/** People, their PINs, roles, sessions and locks. */
export default {
  // ListPage.vue, UserTabs.vue
  about: 'Wer sich an der Zentrale und an den Kassen anmelden kann.',
  active: 'Aktiv',
  activeAndInactive: 'Aktiv und inaktiv',
  anyStore: 'Jede Filiale',
  createFirst: 'Legen Sie den ersten mit „Neuer Benutzer“ an.',
  hasFactor: 'ja',
  inactive: 'Inaktiv',
  lastSeen: 'Zuletzt gesehen',
  moreRoles: 'und {n} weitere',
  name: 'Name',
  newUser: 'Neuer Benutzer',
  noRoles: 'keine',
  noFactor: 'keiner',
  noneFits: 'Kein passender Benutzer',
  noneYet: 'Noch keine Benutzer',
  roles: 'Rollen',
  search: 'Name, Benutzername, Code, E-Mail, Telefon',
  secondFactor: 'Zweiter Faktor',
  showEverybody: 'Alle zeigen',
  state: 'Zustand',
  store: 'Filiale',
  tabs: 'Benutzer und ihre Anmeldungen',
  title: 'Benutzer',
  username: 'Benutzername',

  // LastSeen.vue
  saleAt: 'Verkauf in {store}',

  // DetailPage.vue
  activate: 'Aktivieren',
  activated: '{name} kann sich wieder anmelden.',
  askWhatMay: 'Fragen, was {name} darf',
  changeOwnPin: 'Ihre PIN ändern Sie in Ihrem Konto',
  created: 'Angelegt',
  deactivate: 'Deaktivieren',
  deactivateText:
    'Alle Sitzungen enden, und keine Anmeldung mit diesem Namen oder dieser PIN gelingt, bis der Benutzer wieder aktiviert ist. Eine Filiale ohne Verbindung erfährt es, sobald sie verbunden ist.',
  deactivateTitle: '{name} deaktivieren?',
  deactivated: '{name} ist deaktiviert.',
  delete: 'Löschen',
  deleteText:
    'Alle Rollen und Sitzungen enden, und Benutzername und PIN sind für andere frei. Bons und Prüfprotokoll behalten den Namen. Das lässt sich nicht rückgängig machen.',
  deleteTitle: '{name} löschen?',
  deleted: '{name} ist gelöscht.',
  factorNone: 'keiner',
  factorSet: 'eingerichtet',
  firstPinEnds: 'Erste PIN endet',
  lastSale: 'Letzter Verkauf',
  lastSaleAt: '{when} in {store}',
  lastSignIn: 'Letzte Anmeldung hier',
  makePin: 'Neue PIN erzeugen',
  makePinText:
    'Alle Sitzungen dieses Benutzers enden, und die jetzige PIN gilt nicht mehr. Die neue wird einmal angezeigt und muss vor allem anderen geändert werden. Filialen nehmen sie an, sobald sie synchronisiert haben.',
  makePinTitle: 'Eine neue PIN für {name} erzeugen?',
  pinMade: '{name} hat eine neue PIN, und alle Sitzungen sind beendet.',
  pinSet: 'PIN gesetzt',
  profile: 'Profil',
  removeFactor: 'Zweiten Faktor entfernen',
  removeFactorText:
    'Für einen Benutzer, der ihn verloren hat, sobald Sie sicher sind, dass er selbst darum bittet. Alle Passkeys, Apps und Wiederherstellungscodes entfallen, und die PIN allein genügt zur Anmeldung, bis andere eingerichtet sind.',
  removeFactorTitle: 'Den zweiten Faktor von {name} entfernen?',
  factorRemoved: '{name} hat keinen zweiten Faktor mehr.',
  save: 'Speichern',
  saved: 'Gespeichert.',
  sessionsHere: 'Sitzungen an der Zentrale',
  theUser: 'der Benutzer',
  user: 'Benutzer',
  whatDid: 'Was {name} getan hat',

  // firstDay.ts: of a user who cannot sell yet, wherever that is seen
  firstStep:
    'Zuerst ist eine eigene PIN zu wählen: im Browser an der Zentrale oder an einer Kasse der Filiale, während diese mit der Zentrale verbunden ist. Mit ihr erfolgt die Anmeldung an der Kasse.',
  madeHere: 'Die PIN wurde von der Zentrale erzeugt.',
  noPin:
    'Keine PIN: Eine andere Person kannte sie, deshalb wurde sie entzogen. Eine Anmeldung ist erst möglich, wenn eine neue erzeugt und übergeben ist.',
  noRole:
    'Ohne Rolle kann ein Benutzer nur eine PIN wählen: Keine Kasse lässt ihn verkaufen, und keine Seite öffnet sich.',
  noRoleYet: 'Noch keine Rolle.',
  runOut:
    'Die erzeugte PIN wurde nicht rechtzeitig geändert und gilt nicht mehr. Erzeugen Sie eine neue und übergeben Sie sie.',

  // firstDay.ts: what is handed over with a PIN, line by line
  sheetAgain: 'Eine neue PIN für {name}',
  sheetAskRole: '2. Um eine Rolle bitten: Ohne sie lässt keine Kasse verkaufen, und keine Seite öffnet sich.',
  sheetBrowser:
    '   Im Browser: {address} öffnen, mit dem Benutzernamen und der PIN oben anmelden und eine neue eingeben.',
  sheetBrowserLocal:
    '   Im Browser des Rechners, auf dem die Zentrale läuft, und auf keinem anderen: {address} öffnen, mit dem Benutzernamen und der PIN oben anmelden und eine neue eingeben.',
  sheetChoose: '1. Eine eigene PIN wählen; vorher geht nichts anderes.',
  sheetPin: 'PIN: {pin}',
  sheetRole: '- {role}, {store}',
  sheetRoleEverywhere: '- {role}, alle Filialen',
  sheetSecret: 'Zeigen Sie Ihre PIN niemandem: Wer sie kennt, kann in Ihrem Namen verkaufen.',
  sheetSignIn: '2. Mit der neuen PIN an einer Kasse von {stores} anmelden.',
  sheetSignInAny: '2. Mit der neuen PIN an einer Kasse einer beliebigen Filiale anmelden.',
  sheetTill:
    '   Oder an einer Kasse von {stores}, während die Filiale mit der Zentrale verbunden ist: mit der PIN oben anmelden und sie ändern.',
  sheetTillAny:
    '   Oder an einer Kasse einer beliebigen Filiale, während sie mit der Zentrale verbunden ist: mit der PIN oben anmelden und sie ändern.',
  sheetUntil: 'Gültig bis: {when}',
  sheetUsername: 'Benutzername: {username}',
  sheetWelcome: 'Willkommen, {name}',
  sheetWork: 'Ihre Aufgaben:',

  // GeneratedPin.vue, signInAddress.ts
  addressLocal: '{url} ist nur dieser Rechner, und kein Browser auf einem anderen erreicht ihn',
  copyPin: 'PIN kopieren',
  giveOnPage: 'Vergeben Sie eine auf der Seite des Benutzers.',
  handOver:
    'Sie wird nur dieses eine Mal angezeigt und lässt sich nicht erneut lesen. Kopieren oder drucken Sie das Folgende und übergeben Sie es persönlich.',
  iHaveIt: 'Ich habe sie',
  leaveText: 'Sie wird nicht noch einmal angezeigt. Ohne sie muss eine neue erzeugt werden.',
  leaveTitle: 'Ohne die PIN fortfahren?',
  pin: 'PIN',
  pinOf: 'Die PIN von {name}',
  sheetFor: 'Für {name}',
  theAddress: 'die Adresse der Zentrale',

  // firstPin.ts, UserState.vue
  ends: 'endet {when}',
  firstPinOver: 'Erste PIN ist abgelaufen',
  mustChangePin: 'Muss PIN ändern',
  withoutPin: 'Keine PIN',

  // NewUser.vue
  chooseRole: 'Wählen Sie in jeder Zeile eine Rolle und wo sie gilt, oder entfernen Sie die Zeile.',
  create: 'Benutzer anlegen',
  createdOne: '{name} ist angelegt.',
  giveInStore: 'Vergeben Sie eine Rolle in einer der Filialen, in denen Sie Benutzer anlegen dürfen.',
  newAbout: 'Eine PIN wird erzeugt und einmal angezeigt, zur Übergabe.',
  askForRole: 'Sie dürfen keine Rollen vergeben: Fragen Sie jemanden, der es darf.',
  giveHere: 'Vergeben Sie hier eine oder später auf der Seite des Benutzers.',

  // profile.ts
  displayNameHelp: 'Wie er auf Bons und Berichten steht.',
  email: 'E-Mail',
  employeeCode: 'Personalnummer',
  phone: 'Telefon',
  usernameHelp: 'Zum Anmelden; Groß- und Kleinschreibung ist gleich.',

  // GrantFields.vue, useGrantPlaces.ts
  addRole: 'Rolle hinzufügen',
  allStores: 'Alle Filialen',
  atLeastOne: 'Mindestens eine, in einer Filiale, in der Sie Benutzer anlegen dürfen.',
  pickPlace: 'Wählen Sie, wo sie gilt',
  pickRole: 'Rolle wählen',
  placeN: 'Wo Rolle {n} gilt',
  removeRoleN: 'Rolle {n} entfernen',
  roleN: 'Rolle {n}',

  // RoleAssignments.vue
  actions: 'Optionen',
  countsEverywhere: 'In einer Filiale gilt sie nur dort; in allen Filialen gilt sie auch an der Zentrale.',
  countsHere: 'Eine der Filialen, in denen Sie Rollen vergeben dürfen.',
  giveRole: 'Rolle vergeben',
  giveRoleTitle: 'Rolle an {name} vergeben',
  giveTheRole: 'Vergeben',
  hasRoleNow: '{name} hat jetzt die Rolle {role}.',
  noRoleTitle: 'Noch keine Rolle',
  remove: 'Entfernen',
  removeOne: '{role}, {store} entfernen',
  removeRole: 'Rolle entziehen',
  removeRoleText:
    '{name} verliert, was sie erlaubt ({store}). An der Zentrale gilt das sofort, in einer Filiale, sobald sie synchronisiert hat.',
  removeRoleTitle: 'Die Rolle {role} entziehen?',
  role: 'Rolle',
  roleRemoved: 'Die Rolle {role} ist entzogen.',
  whereCounts: 'Wo sie gilt',

  // UserSessions.vue, SessionTable.vue
  atTill: 'Kasse {till}',
  endAll: 'Alle Sitzungen beenden',
  endAllSure: 'Alle beenden',
  endAllText:
    'Die an der Zentrale enden sofort, die in einer Filiale, sobald sie synchronisiert hat. Die PIN bleibt gültig: Wer sie kennt, kann sich wieder anmelden.',
  endAllTitle: 'Alle Sitzungen beenden?',
  endOf: 'Die Sitzung von {when} beenden',
  endOne: 'Beenden',
  endOneSure: 'Sitzung beenden',
  endOneText: 'Sie begann {when}. Ihre nächste Anfrage wird abgelehnt.',
  endOneTitle: 'Diese Sitzung beenden?',
  endedAll: 'Alle Sitzungen an der Zentrale sind beendet; jede Filiale beendet ihre, sobald sie synchronisiert hat.',
  endedOne: 'Die Sitzung ist beendet.',
  goodUntil: 'Gültig bis',
  headquarters: 'Zentrale',
  noSessions: 'Nirgends angemeldet',
  noSessionsText: 'Anmeldungen in einer Filiale führt diese Filiale.',
  sessions: 'die Sitzungen',
  signedIn: 'Angemeldet',
  thisOne: 'Diese',
  where: 'Wo',

  // LocksPage.vue
  isFree: '{name} ist wieder frei.',
  kindAccount: 'Anmelden mit diesem Benutzernamen, von einem Ort',
  kindAccountAnywhere: 'Anmelden mit diesem Benutzernamen, von überall',
  kindDevice: 'PIN-Eingabe an dieser Kasse',
  kindHeadquarters: 'Anmelden an der Zentrale nur mit PIN, von einem Ort',
  kindHeadquartersAnywhere: 'Anmelden an der Zentrale nur mit PIN, von neuen Orten',
  kindLoginAddress: 'Anmelden mit Benutzernamen von dieser Adresse',
  kindProposal: 'Neue PINs wählen',
  kindProposalAccepted: 'Neue PINs wählen, durch diese Person und die von ihr angelegten Konten',
  kindProposalRefused: 'PINs anderer wählen, durch diese Person und die von ihr angelegten Konten',
  kindSecondFactor: 'Codes eines zweiten Faktors eingeben',
  kindStoreSignIn: 'In einer Filiale nach Personen aller Filialen fragen',
  kindUnknownDevices: 'PIN-Eingabe an nicht eingerichteten Kassen',
  kindUnlock: 'Sperren aufheben',
  locks: 'Gesperrte Anmeldungen',
  locksAbout:
    'An der Zentrale nach falschen PINs gesperrt. Jede Filiale zählt eigene; die werden in der Filiale aufgehoben.',
  noLocks: 'Nichts ist gesperrt',
  noLocksText: 'Gibt jemand mehrmals eine falsche PIN ein, steht es hier, bis es von selbst endet oder Sie entsperren.',
  unlock: 'Entsperren',
  unlockAt: '{name}, {place} entsperren',
  unlockOne: '{name} entsperren',
  unlockText:
    'Sofort wieder möglich: {what}. Falsche PINs zählen wieder ab null. Fragen Sie zuerst, wer sie eingegeben hat.',
  unlockTextAt:
    'Sofort wieder möglich: {what} ({place}). Falsche PINs zählen wieder ab null. Fragen Sie zuerst, wer sie eingegeben hat.',
  unlockTitle: '{name} entsperren?',
  until: 'Bis',
  wasFree: '{name} war schon frei.',
  what: 'Was gesperrt ist',
  who: 'Wer oder was',
  wrongToday: 'Falsche PINs heute',
} satisfies Record<keyof typeof en, string>
