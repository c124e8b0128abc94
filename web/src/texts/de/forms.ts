import type en from '../en/forms'

/** What forms, fields, choices and dialogs say. */
export default {
  // composables/userLookup.ts: in `find`
  aUser: 'Benutzer',
  // composables/fields.ts: after the name of a field, as in `wrong`
  needed: 'Angabe fehlt',
  oneDay: 'mindestens ein Tag ist nötig',
  wholeNumber: 'muss eine ganze Zahl sein',
  decimals: 'muss eine Zahl mit höchstens drei Nachkommastellen sein',
  wholeAmount: 'muss ein ganzer Betrag sein',
  amount:
    'muss ein Betrag mit höchstens {n} Nachkommastelle sein | muss ein Betrag mit höchstens {n} Nachkommastellen sein',
  percentage:
    'muss ein Prozentsatz mit höchstens {n} Nachkommastelle sein | muss ein Prozentsatz mit höchstens {n} Nachkommastellen sein',
  atMostLetters: 'darf höchstens {n} Zeichen haben | darf höchstens {n} Zeichen haben',
  atLeastLetters: 'muss mindestens {n} Zeichen haben | muss mindestens {n} Zeichen haben',
  asHelpSays: 'muss so geschrieben sein, wie der Hinweis sagt',
  oneOf: 'muss eines von diesen sein: {words}',
  atMost: 'darf höchstens {most} sein',
  atLeast: 'muss mindestens {least} sein',
  between: 'muss zwischen {least} und {most} liegen',
  atMostLines: 'darf höchstens {n} Zeile haben | darf höchstens {n} Zeilen haben',
  entry: 'Eintrag {n}',
  within: 'in {place}: {words}',
  several: '{one}; {other}',
  // composables/amounts.ts
  smallestUnit: 'kleinste Einheit',
  wholeNumberIn: 'Eine ganze Zahl in {unit}.',
  // composables/kind.ts
  noSuch: '{what}: nicht vorhanden oder inzwischen gelöscht.',
  // composables/useForce.ts
  belowMinPrice: 'Unter dem Mindestpreis',
  saveAllTheSame: 'Trotzdem speichern',
  badCheckDigit: 'Ein Barcode hat eine falsche Prüfziffer',
  keepAllTheSame: 'Trotzdem behalten',
  // composables/inWords.ts
  on: 'ein',
  off: 'aus',
  nothing: 'nichts',
  inUnit: '{value} {unit}',
  // components/FormField.vue
  wrong: '{field}: {words}',
  // components/EntityForm.vue, components/SaveBar.vue
  sections: 'Abschnitte dieses Formulars',
  saving: 'Speichert …',
  unchanged: 'Nichts geändert.',
  unsaved: '{n} Änderung nicht gespeichert | {n} Änderungen nicht gespeichert',
  wrongFields: '{n} Feld stimmt nicht. | {n} Felder stimmen nicht.',
  showFirst: 'Zum ersten',
  otherField: '{field}: {words}',
  withOthers: '{error}: {others}',
  discardAndReload: 'Verwerfen und neu laden',
  // components/ChangedSince.vue: the row was changed since it was opened
  changedBy:
    '{name} hat diesen Datensatz um {at} geändert, nachdem Sie ihn geöffnet hatten. Ihre Eingaben sind noch da, aber nicht gespeichert.',
  changedByYou:
    'Sie haben diesen Datensatz um {at} in einem anderen Fenster geändert. Ihre Eingaben hier sind noch da, aber nicht gespeichert.',
  changedAt:
    'Jemand anders hat diesen Datensatz um {at} geändert, nachdem Sie ihn geöffnet hatten. Ihre Eingaben sind noch da, aber nicht gespeichert.',
  changed:
    'Jemand anders hat diesen Datensatz geändert, nachdem Sie ihn geöffnet hatten. Ihre Eingaben sind noch da, aber nicht gespeichert.',
  lastChange: 'Zuletzt geändert von {name}: {at}.',
  lastChangeAt: 'Zuletzt geändert: {at}.',
  takenOver: 'Übernommen, weil hier unverändert:',
  fromTo: '{field}: {before} → {now}',
  bothChanged: 'Von beiden geändert. Wählen Sie, was gilt:',
  theirs: 'Andere: {value}',
  yours: 'Ihre: {value}',
  thenSave: 'Wenn es so stimmt, erneut speichern.',
  chooseFirst:
    'Wählen Sie bei {n} Feld, was gilt, und speichern Sie dann. | Wählen Sie bei {n} Feldern, was gilt, und speichern Sie dann.',
  // components/FormDialog.vue
  closeTitle: 'Schließen, ohne zu speichern?',
  closeText: 'Ihre Eingaben sind nicht gespeichert und gehen verloren.',
  close: 'Schließen',
  // components/FormDialog.vue, components/ConfirmDialog.vue
  cancel: 'Abbrechen',
  // components/SearchSelect.vue
  typeName: 'Namen eingeben',
  chooseNo: '{what}: Auswahl aufheben',
  notLookedUp: 'Die Liste ließ sich nicht lesen. Versuchen Sie es gleich noch einmal.',
  looking: 'Sucht …',
  noneCalled: '{what}: kein Treffer.',
} satisfies Record<keyof typeof en, string>
