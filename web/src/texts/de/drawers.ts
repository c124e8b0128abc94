import type en from '../en/drawers'

export default {
  // ListPage.vue
  title: 'Kassenschubladen',
  about: 'Jede Kassenschublade jeder Kasse, vom Öffnen bis zum Abschluss.',
  drawer: 'Kassenschublade',
  businessDay: 'Geschäftstag',
  status: 'Status',
  opened: 'Geöffnet',
  closed: 'Abgeschlossen',
  receipts: 'Bons',
  taken: 'Eingenommen',
  soFar: 'bisher',
  expectedCash: 'Soll-Bargeld',
  counted: 'Gezählt',
  difference: 'Differenz',
  toBeLookedAt: 'Zu prüfen',
  noneFits: 'Keine passende Kassenschublade',
  otherFilters: 'Wählen Sie andere Filter.',
  noneYet: 'Noch keine Kassenschublade angekommen',
  firstOne: 'Eine Kasse öffnet die erste; sie ist Sekunden später hier.',
  nameInList: '{store}, Kasse {register}, Nr. {number}',
  days: 'Ein Tag ist der Geschäftstag der Filiale dieser Kassenschublade. „Heute“ und „Gestern“ richten sich nach dem Datum dieses Computers; dort ist heute {today}.',
  file: 'kassenschubladen',

  // Filters
  filters: 'Filter',
  register: 'Kasse',
  openAndClosed: 'Offen und abgeschlossen',

  // SumsCard.vue
  sums: 'Summen',
  currency: 'Währung',
  drawers: 'Kassenschubladen',
  open: 'Offen',
  forced: 'Zwangsweise abgeschlossen',
  countedCash: 'Gezähltes Bargeld',
  over: 'Überschuss',
  short: 'Fehlbetrag',
  hidden:
    '{n} Kassenschublade fehlt in allen Beträgen: Ihre Filiale schließt verdeckt ab, und Sie dürfen dort nicht abschließen. | {n} Kassenschubladen fehlen in allen Beträgen: Ihre Filialen schließen verdeckt ab, und Sie dürfen dort nicht abschließen.',

  // DrawerPage.vue
  name: '{store}, Kasse {register}, Kassenschublade {number}',
  salesOfDay: 'Verkäufe dieses Tages',
  theDrawer: 'die Kassenschublade',
  total: 'Summe',
  rounding: 'Bargeldrundung',
  openingFloat: 'Wechselgeld zu Beginn',
  openedWith: 'Geöffnet mit {pieces}',
  forcedUnknown: 'Zwangsweise abgeschlossen: Der Inhalt ist nicht bekannt.',
  forcedWhy: 'Zwangsweise abgeschlossen: Der Inhalt ist nicht bekannt. {why}',
  notAtHeadquarters: 'Der Zentrale fehlt der Verkauf {sale}: Er wurde abgelehnt, und ein Benutzer hat das erledigt.',
  counts: 'Zählungen',
  notCounted: 'Nicht gezählt.',
  earlierCount: 'Frühere Zählung {number}',
  movements: 'Bargeldbewegungen',
  noMovements: 'Außer durch Verkäufe wurde kein Bargeld eingelegt oder entnommen.',
  safeMovements: 'Bewegungen des Tresors',
  totalsUnknown: 'Die Summen sind nicht lesbar.',
  facts: 'Angaben',
  store: 'Filiale',
  byWhom: '{at}, {who}',
  unknownUser: 'von einem unbekannten Benutzer',
  aUser: 'Ein Benutzer',
  receiptsBetween: '{first} bis {last}',
  whyForced: 'Grund für den Zwangsabschluss',
  note: 'Notiz',
  paperOf: 'Z von {drawer}',

  // TakenCard.vue
  takenSoFar: 'Bisher eingenommen',
  aboutTaken: 'Was bis jetzt von der Kasse gekommen ist. Den Rest sagt der Abschluss.',
  salesAndRefunds: '{sales} und {refunds}.',
  saleCount: '{n} Verkauf | {n} Verkäufe',
  refundCount: '{n} Rückgabe | {n} Rückgaben',
  nothingTaken: 'Noch keine Einnahmen.',
  tender: 'Zahlart',
  payments: 'Zahlungen',
  amount: 'Betrag',
  blindOpen:
    'Die Einnahmen sind nicht zu sehen: Die Filiale schließt verdeckt ab, damit beim Zählen niemand den Sollbetrag kennt. Wer dort abschließen darf, sieht sie.',
  takenUnknown:
    'Die Einnahmen sind nicht zu sehen: Die Filiale schließt verdeckt ab, oder der Bericht des Abschlusses ist nicht lesbar.',

  // CountsTable.vue
  expected: 'Soll',

  // MovementsCard.vue
  movement: 'Bewegung',
  reason: 'Grund',
  slip: 'Beleg',
  who: 'Wer',
  when: 'Wann',
  late: 'kam nach dem Abschluss, nicht im Z-Bericht',
  allowedBy: 'erlaubt von {who}',

  // OwnersCard.vue
  owners: 'Wessen Kassenschublade es war',
  ownedFrom: '{who}, ab {at}',
  ownedGiven: '{who}, ab {at}, übergeben von {by}',
} satisfies Record<keyof typeof en, string>
