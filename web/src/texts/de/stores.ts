import type en from '../en/stores'

/** Stores: the list, one store with its settings, and its token. */
export default {
  // ListPage.vue
  title: 'Filialen',
  about: 'Jede Filiale der Kette, mit ihren Einstellungen und dem Token, mit dem sie synchronisiert.',
  aboutYours: 'Die Filialen, die Sie sehen dürfen, mit ihren Einstellungen und ihrem Zustand.',
  newStore: 'Neue Filiale',
  code: 'Code',
  name: 'Name',
  city: 'Ort',
  currency: 'Währung',
  timeZone: 'Zeitzone',
  state: 'Zustand',
  provisioned: 'Bereitgestellt',
  search: 'Code, Name oder Ort suchen',
  inUse: 'In Betrieb',
  inUseAndNot: 'In Betrieb und nicht',
  noneFits: 'Keine passende Filiale',
  noneFitsAbout: 'Suchen Sie nach etwas anderem oder zeigen Sie alle.',
  none: 'Noch keine Filialen',
  noneAbout: 'Legen Sie die erste mit „Neue Filiale“ an.',
  notYet: 'noch nicht',

  // EditPage.vue
  store: 'Filiale',
  newAbout: 'Sie ist erst in Betrieb, wenn sie bereitgestellt oder aktiviert ist.',
  theStore: 'die Filiale',
  settings: 'Einstellungen',
  needsCreate: 'Für eine neue Filiale ist {code} in allen Filialen nötig.',
  save: 'Speichern',
  createStore: 'Filiale anlegen',
  created: '{store} ist angelegt. Stellen Sie sie bereit, um sie vor Ort in Betrieb zu nehmen.',
  saved: 'Gespeichert. Verbundene Filialen haben es gleich.',
  history: 'Verlauf',
  createdAt: 'Angelegt',
  firstHeard: 'Erste Meldung',
  lastChanged: 'Zuletzt geändert',

  // SyncCard.vue
  sync: 'Synchronisierung',
  details: 'Details',
  theState: 'der Zustand',
  lastHeard: 'Letzte Meldung',
  lastSuccess: 'Letzter Erfolg',
  waiting: 'Wartet in der Filiale',
  failed: 'Hier fehlgeschlagen',
  dead: 'Abgelehnt',
  notKnown: 'Noch nichts bekannt.',

  // StoreActions.vue
  activate: 'Aktivieren',
  activated: '{code} ist in Betrieb.',
  deactivate: 'Deaktivieren',
  deactivateQuestion: '{code} deaktivieren?',
  deactivateAbout:
    'Die Verbindung wird geschlossen, und nichts wird synchronisiert, bis die Filiale wieder aktiviert ist.',
  leaveBehindQuestion: 'Daten zurücklassen?',
  entriesWait:
    '1 Eintrag dieser Filiale ist noch nicht übernommen. Außer Betrieb kann sie nichts senden: Ihre Verkäufe würden hier fehlen. | {n} Einträge dieser Filiale sind noch nicht übernommen. Außer Betrieb kann sie nichts senden: Ihre Verkäufe würden hier fehlen.',
  mayWait:
    'Diese Filiale hat sich länger nicht gemeldet und hat womöglich Verkäufe, die nicht gesendet sind. Außer Betrieb kann sie nichts senden: Ihre Verkäufe würden hier fehlen.',
  deactivateAnyway: 'Trotzdem deaktivieren',
  deactivated: '{code} ist außer Betrieb.',
  provision: 'Bereitstellen',
  provisionQuestion: '{code} bereitstellen?',
  provisionAbout:
    'Sie erhält ihr Sync-Token, das einmal angezeigt wird, und ist ab dann in Betrieb. Ihr Code steht danach fest.',
  rotate: 'Token erneuern',
  rotateTitle: 'Neues Token für {code}',
  rotateAbout:
    'Die Filiale übernimmt es in der Zeit unten von selbst; sonst muss ihr Server damit neu gestartet werden. Bis dahin wartet Verkauftes in seinem Postausgang, und nichts geht verloren.',
  rotateAboutOutOfUse:
    'Die Filiale übernimmt es in der Zeit unten von selbst; sonst muss ihr Server damit neu gestartet werden. Bis dahin wartet Verkauftes in seinem Postausgang, und nichts geht verloren. Diese Filiale ist außer Betrieb: Aktivieren Sie sie zusätzlich.',
  grace: 'Das alte Token gilt noch für',
  minutes: 'Minuten',
  graceHelp:
    'In dieser Zeit übernimmt die Filiale das neue von selbst. Mit 0 ist sie getrennt, bis jemand es bringt: so bei einem gestohlenen Rechner.',
  revoke: 'Token widerrufen',
  revokeQuestion: 'Das Token von {code} widerrufen?',
  revokeAbout:
    'Die Verbindung wird geschlossen, und die Synchronisierung endet sofort. Kassen verkaufen weiter, und Verkauftes wartet im Postausgang der Filiale. Ein neues Token bringt sie zurück.',
  revokeAction: 'Widerrufen',
  revoked: 'Das Token von {code} ist widerrufen.',

  // TokenDialog.vue
  tokenTitle: 'Sync-Token von {code}',
  tokenOnce:
    'Es wird nur dieses eine Mal angezeigt und nirgends gespeichert. Sichern Sie es, bevor Sie dies schließen.',
  leaveQuestion: 'Ohne das Token fortfahren?',
  leaveAbout: 'Es wird nicht noch einmal angezeigt. Ohne es braucht die Filiale ein anderes.',
  saveLines: '1. Diese Zeilen als {file} speichern',
  saveLinesAbout:
    'Auf dem Rechner der Filiale in einem Editor; oder dort {command} ausführen, einfügen und mit Strg-D beenden.',
  start: '2. Filialserver starten',
  startAbout: 'Neben {file}. Kassen auf anderen Rechnern erreichen ihn mit --listen 0.0.0.0:8081 hinter --data-dir.',
  tokenAlone: 'Nur das Token',
  tokenAloneAbout: 'Für SYNC_TOKEN oder eine Datei, die SYNC_TOKEN_FILE nennt.',
  copy: 'Kopieren',
  copyWhat: 'Kopieren: {what}',
  kept: 'Ich habe es gesichert',

  // AddressNotice.vue
  addressUnknown:
    'Die Zentrale weiß nicht, unter welcher Adresse die Filiale sie erreicht: Ihre Einstellung {setting} fehlt.',
  addressToWrite:
    'Setzen Sie diese Adresse in die erste Zeile unten ein, anstelle von {line}. Dieser Browser kam über {origin}: richtig, wenn die Filiale denselben Weg nimmt; 127.0.0.1 und localhost stimmen nur auf diesem Rechner. Ist {setting} auf dem Server gesetzt, wird die Zeile von selbst ausgefüllt.',
  addressWarning: '{warning}.',
  addressAgainToken:
    'Oder öffnen Sie diese Seite unter dem Namen ihres Rechners, wie die Filiale es tun wird, und erneuern Sie dort das Token. Mit einem Filialserver auf demselben Rechner ist alles in Ordnung.',
  addressAgainSheet:
    'Oder öffnen Sie diese Seite unter dem Namen ihres Rechners, wie die anderen es tun werden, und erzeugen Sie die PIN dort neu.',

  // storeFields.ts: sections
  identity: 'Identität',
  address: 'Anschrift und Kontakt',
  currencyAndTime: 'Währung und Zeit',
  prices: 'Preise und Steuern',
  drawers: 'Kassenschubladen und Bargeld',
  refunds: 'Rückgaben und Rabatte',
  receipt: 'Bon',

  // storeFields.ts: fields
  codeFixed: 'Steht seit der Bereitstellung fest: Er ist Teil der Bonnummern.',
  codeHelp: '2 bis 10 aus A bis Z und 0 bis 9, etwa S01. Teil der Bonnummern; steht mit der Bereitstellung fest.',
  legalName: 'Firmenname',
  taxRegistrationNo: 'Steuernummer',
  addressLine1: 'Anschrift',
  addressLine2: 'Anschriftzusatz',
  postalCode: 'Postleitzahl',
  region: 'Bundesland oder Region',
  country: 'Land',
  countryHelp: 'Zwei Buchstaben: US, DE, JP.',
  phone: 'Telefon',
  email: 'E-Mail-Adresse',
  currencyHelp:
    'Drei Buchstaben: USD, EUR, JPY. Beträge haben keine Nachkommastellen. Steht nach dem ersten Verkauf fest. | Drei Buchstaben: USD, EUR, JPY. Beträge haben 1 Nachkommastelle. Steht nach dem ersten Verkauf fest. | Drei Buchstaben: USD, EUR, JPY. Beträge haben {n} Nachkommastellen. Steht nach dem ersten Verkauf fest.',
  timeZoneHelp: 'Teil des Städtenamens eingeben und wählen: Europe/Berlin.',
  businessDayStart: 'Beginn des Geschäftstags',
  businessDayStartHelp: 'Verkäufe davor zählen noch zum Vortag.',
  locale: 'Sprache der Bons',
  localeHelp: 'Sprache und Land: en-US, de-DE.',
  taxRounding: 'Steuern werden gerundet',
  taxRoundingLine: 'je Position',
  taxRoundingInvoice: 'einmal über den Bon',
  maxOpenPrice: 'Eingegebener Preis höchstens',
  maxOpenPriceHelpNew: 'Bei Artikeln mit offenem Preis. Leer: 10.000.',
  maxOpenPriceHelp: 'Bei Artikeln mit offenem Preis. Leer: keine Grenze.',
  reasonsRequired: 'Gründe nur aus der Liste',
  reasonsRequiredHelp: 'Aus: Auch ein Text genügt. Für Arten mit einem aktiven Grund.',
  pricesIncludeTax: 'Preise enthalten die Steuer',
  pricesIncludeTaxHelp: 'Für Steuergruppen, die es der Filiale überlassen.',
  allowNegativeStock: 'Verkaufen, was nicht im Bestand ist',
  allowNegativeStockHelp: 'Aus: Ein Verkauf, der den Bestand unter null bringt, wird abgelehnt.',
  scaleBarcodeRules: 'Waagenetiketten',
  scaleBarcodeRulesHelp:
    'Eine Regel je Zeile: erste Ziffern, weight (Gewicht) oder price (Preis), Stellen der Artikelnummer (4 oder 5), Stellen des Werts, dessen Nachkommastellen. Etwa 21 weight 5 5 3.',
  defaultFloat: 'Wechselgeld',
  defaultFloatHelp: 'Womit eine Kassenschublade öffnet, wenn die Kasse nichts anderes sagt.',
  cashVarianceLimit: 'Akzeptierte Differenz',
  cashVarianceLimitHelp: 'Darüber fragt der Abschluss noch einmal nach.',
  cashRoundingIncrement: 'Bargeld wird gerundet auf',
  cashRoundingIncrementHelp: 'Die kleinste Münze.',
  cashRoundingMode: 'Bargeld wird gerundet',
  cashRoundingNearest: 'kaufmännisch',
  cashRoundingUp: 'immer auf',
  cashRoundingDown: 'immer ab',
  maxSessionHours: 'Eine Kassenschublade bleibt offen',
  hours: 'Stunden',
  maxSessionHoursHelp: 'Höchstens; danach nimmt sie keine Verkäufe mehr an.',
  blindClose: 'Zählen, ohne das Soll zu sehen',
  fourEyesDocuments: 'Belege brauchen eine zweite Person',
  refundWindowDays: 'Rückgabe innerhalb von',
  days: 'Tagen',
  refundWindowDaysHelp: 'Leer: ohne Grenze.',
  refundToOriginalTender: 'Erstattung auf die ursprüngliche Zahlart',
  allowUnlinkedRefunds: 'Rückgaben ohne Bon',
  unlinkedRefundLimit: 'Ohne Bon höchstens',
  unlinkedRefundLimitHelp: 'Je Rückgabe.',
  maxLineDiscount: 'Rabatt auf eine Position',
  maxCartDiscount: 'Rabatt auf einen Bon',
  maxDiscountHelp: 'Höchstens; mehr braucht die Filialleitung.',
  receiptHeader: 'Kopf des Bons',
  receiptFooter: 'Fuß des Bons',
  emptyCounts: '{help} Leer: {amount}.',

  // scaleRules.ts
  ruleUnreadable: 'ist in der Zeile „{line}“ nicht lesbar; Schreibweise wie 21 weight 5 5 3',
} satisfies Record<keyof typeof en, string>
