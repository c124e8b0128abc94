import type en from '../en/lists'

/** Lists, tables and what stands in them. */
export default {
  // BusyFrame, Pager
  looking: 'Sucht …',
  nothing: 'Nichts',
  rowsOf: '{first} bis {last} von {total}',
  pages: 'Seiten',
  previousPage: 'Vorige Seite',
  nextPage: 'Nächste Seite',
  pageOf: '{page} / {pages}',

  // PeriodFilter
  period: 'Geschäftstage',
  allDays: 'Alle Tage',
  today: 'Heute',
  yesterday: 'Gestern',
  lastSevenDays: 'Letzte 7 Tage',
  thisMonth: 'Dieser Monat',
  lastMonth: 'Letzter Monat',
  from: 'Von',
  to: 'Bis',
  fromAfterTo: '„Von“ liegt nach „Bis“, deshalb passt nichts. Wählen Sie ein früheres „Von“.',

  // ListFilters, useStores
  store: 'Filiale',
  allStores: 'Alle Filialen',
  ofOneOnly: 'Eingegrenzt auf: {what}.',
  showAll: 'Alle zeigen',

  // RowsPage
  actions: 'Optionen',
  active: 'Aktiv',
  inactive: 'Inaktiv',
  new: '{one} anlegen',
  create: '{one} anlegen',
  save: 'Speichern',
  saved: 'Gespeichert. Verbundene Filialen haben es gleich.',
  delete: 'Löschen',
  deleteRow: '{name} löschen',
  deleteAsked: '{name} löschen?',
  deleted: '{name} ist gelöscht.',
  noneFits: '{one}: keine Treffer',
  noneYet: '{one}: noch nichts angelegt',
  searchElse: 'Suchen Sie nach etwas anderem.',
  beginWith: 'Beginnen Sie mit „{one} anlegen“.',

  // CopyButton, PrintedText, PaperView, JsonView, ReloadButton, FiguresUpTo, FlagList
  copy: 'Kopieren',
  copied: 'Kopiert',
  copyRefused: 'Der Browser lässt diese Seite nicht kopieren. Markieren Sie den Text und kopieren Sie ihn von Hand.',
  copyText: 'Text kopieren',
  print: 'Drucken',
  saveFile: 'Als Datei speichern',
  onPaper: 'Auf Papier',
  thePaper: 'der Ausdruck',
  refresh: 'Aktualisieren',
  figuresUpTo: 'Zahlen bis {time}.',
  lookedAt: 'Zu prüfen',

  // RolloutStatus
  neverStarted: '{n} Filiale wurde nie gestartet. | {n} Filialen wurden nie gestartet.',
  storeNotInUse: 'Filiale nicht in Betrieb',
  storeNeverStarted: 'Filiale nie gestartet',
  nowhereYet: 'Noch nirgends',
  noStoreInUse: 'Keine Filiale ist in Betrieb.',
  live: 'Verteilt',
  everywhere: 'Überall',
  onItsWay: 'Unterwegs',
  liveIn: 'Angekommen in {live} von {n} Filiale in Betrieb. | Angekommen in {live} von {n} Filialen in Betrieb.',
  asking: 'Filialen werden gefragt …',
  storesThatHave: 'Filialen, die es haben',
  storesThatLack: 'Filialen, die es noch nicht haben',
  hasVersion: 'hat Version {version}',
  hasVersionOf: 'hat Version {version} von {wanted}',
  moreStores: 'und {n} weitere Filiale | und {n} weitere Filialen',
} satisfies Record<keyof typeof en, string>
