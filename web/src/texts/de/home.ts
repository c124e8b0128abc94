import type en from '../en/home'

export default {
  // TodayPage.vue
  about: 'Was jede Filiale an ihrem Geschäftstag verkauft hat, und bis zur selben Stunde eine Woche zuvor.',
  allStores: 'Alle Filialen',
  figures: 'die Zahlen',
  lacking:
    'Alles ist da | Eine Filiale ist nicht verbunden oder hat noch etwas in der Warteschlange: Ihre letzten Verkäufe fehlen in diesen Zahlen noch. | {n} Filialen sind nicht verbunden oder haben noch etwas in der Warteschlange: Ihre letzten Verkäufe fehlen in diesen Zahlen noch.',
  noStore: 'Noch keine Filiale in Betrieb',
  noStoreHint: 'Ihre Zahlen stehen hier ab dem ersten Verkauf.',
  title: 'Heute',
  totalIn: 'Summe in {code}',
  totalNote: 'eine Woche zuvor {before} ({change}); netto {net}, {sales}',
  sales: 'keine Verkäufe | 1 Verkauf | {n} Verkäufe',

  // ToLookAfter.vue, SecurityNotices.vue, NoticeList.vue
  andMore: 'und {n} weitere',
  firstPinExpired: 'Abgelaufene erste PINs',
  noSecondFactor: 'Kein zweiter Faktor',
  pinEnded: 'Eine PIN wurde von einer anderen Person erraten',
  registersWithoutTill: 'Kassen, die nicht eingerichtet sind',
  toLookAfter: 'Zu erledigen',
  tokenAskedAgain: 'Ein Token wurde zweimal verlangt',

  // attention.ts
  alarmedText: 'Sie melden selbst, was nicht stimmt; auf ihren Seiten steht es, und was zu tun ist.',
  clockText: 'Mehr als zwei Minuten Abweichung: Uhr des Servers stellen und gestellt halten (NTP).',
  drawer: '{store}, Kasse {register}, Nr. {number}',
  drawersText:
    'An einem früheren Geschäftstag geöffnet und seitdem nicht abgeschlossen: an der Kasse zählen und abschließen.',
  drawersTitle:
    'Keine Kassenschublade eines früheren Tages offen | Eine Kassenschublade eines früheren Tages ist offen | {n} Kassenschubladen früherer Tage sind offen',
  failedText:
    'Die Zentrale hat sie abgelehnt, ihre Zahlen fehlen hier: Ursache beheben und erneut versuchen, oder erledigen.',
  failedTitle: 'Kein fehlgeschlagener Eintrag | 1 fehlgeschlagener Eintrag | {n} fehlgeschlagene Einträge',
  silentText:
    'Sie verkaufen weiter und senden, was wartet, sobald sie wieder da sind. Bis dahin fehlen hier ihre letzten Verkäufe.',
  stateTitle: '{state} | {state}: 1 Filiale | {state}: {n} Filialen',
  stuckText: 'Verbunden, aber der älteste Eintrag wartet seit mehr als fünf Minuten.',
  twiceText: 'Zwei Kopien laufen gleichzeitig; die später gehörte verkauft nicht: eine davon anhalten.',
  unstoredText: 'Sie können nicht speichern, was die Zentrale sendet: siehe Fehler bei der Art.',

  // today.ts
  current: 'aktuell',
  deadEntries: 'ohne abgelehnte Einträge | ohne 1 abgelehnten Eintrag | ohne {n} abgelehnte Einträge',
  notConnected: '{upTo}, nicht verbunden',
  nothingCame: 'noch nichts angekommen',
  upTo: 'bis {at}',
  waiting: '{upTo} | {upTo}, 1 Eintrag wartet | {upTo}, {n} Einträge warten',

  // TodayPictures.vue
  currency: 'Währung',
  filters: 'Wovon die Diagramme sind',

  // HoursCard.vue
  average: 'Mittel aus {n} Wochen',
  hour: 'Stunde',
  hoursLabel: 'Der Tag nach Stunden; die Pfeiltasten wechseln von einer zur nächsten',
  hoursTitle: 'Der Tag nach Stunden',
  nothingSold: 'Noch nichts verkauft',
  nothingSoldHint: 'Verkäufe stehen hier nach wenigen Augenblicken.',
  sayHour: '{hour}: heute {today}, eine Woche zuvor {before}',
  sayHourAverage: '{hour}: heute {today}, eine Woche zuvor {before}, im Mittel {average}',
  theHours: 'die Stunden',
  today: 'Heute',
  weekBefore: 'Eine Woche zuvor',

  // TrendCard.vue
  day: 'Tag',
  nothingInDays: 'In diesen Tagen wurde nichts verkauft',
  nothingInDaysHint: 'Wählen Sie eine andere Filiale oder kommen Sie nach dem ersten Verkauf wieder.',
  sayDay: '{day}: {total}, keine Verkäufe | {day}: {total}, 1 Verkauf | {day}: {total}, {n} Verkäufe',
  sayToday: '{said}, und der Tag läuft noch',
  sold: 'Verkauft',
  theTrend: 'die letzten Tage',
  trendLabel: 'Die letzten 30 Tage; die Pfeiltasten wechseln von einem zum nächsten',
  trendLabelPick: 'Die letzten 30 Tage; die Pfeiltasten wechseln von einem zum nächsten, Enter öffnet die Verkäufe',
  trendTitle: 'Die letzten 30 Tage',

  // BestSellersCard.vue
  bestTitle: 'Bestseller',
  byAmount: 'Nach Betrag',
  byQuantity: 'Nach Menge',
  days: 'Tage',
  measure: 'Was zählt',
  month: '30 Tage',
  net: 'Netto',
  oneDay: 'Heute',
  place: 'Platz',
  product: 'Artikel',
  quantity: 'Menge',
  theBest: 'die Bestseller',
  week: '7 Tage',

  // StoresCard.vue
  asListed: 'Nach Code',
  bestFirst: 'Bestes gegenüber der Vorwoche',
  caption: 'Heute nach Filiale',
  change: 'Änderung',
  figuresColumn: 'Zahlen',
  leastFirst: 'Niedrigster Umsatz zuerst',
  mostFirst: 'Höchster Umsatz zuerst',
  noStoreFits: 'Keine passende Filiale',
  noStoreFitsHint: 'Suchen Sie nach einem anderen Code oder Namen.',
  openDrawers: 'Offene Kassenschubladen',
  openDrawersOf:
    'keine offenen Kassenschubladen von {store} | 1 offene Kassenschublade von {store} | {n} offene Kassenschubladen von {store}',
  order: 'Reihenfolge',
  refunds: 'Rückgaben',
  salesColumn: 'Verkäufe',
  searchStores: 'Filialen suchen',
  shown: 'keine Filiale | 1 Filiale | {n} Filialen',
  shownOf: '{shown} von {n}',
  spark: '{days} Tage vor heute: niedrigster Wert {lowest}, höchster {highest}, gestern {last}',
  store: 'Filiale',
  stores: 'Filialen',
  total: 'Summe',
  trend: '30 Tage',
  worstFirst: 'Schlechtestes gegenüber der Vorwoche',
} satisfies Record<keyof typeof en, string>
