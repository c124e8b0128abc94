import type en from '../en/chain'

/** What new stores begin with. */
export default {
  // ChainPage.vue
  about: 'Womit neue Filialen beginnen und in welcher Währung Preise eingegeben werden.',
  address: 'Die Adresse dieser Zentrale',
  addressAbout: 'Sie steht auf dem Blatt für neue Kollegen und in dem Befehl, der den Server einer Filiale startet.',
  addressBrowser: 'Dort hat Ihr Browser sie gefunden.',
  addressListener: 'Dort lauscht der Server.',
  addressSetting: 'Laut Einstellung public_url.',
  addressUnknown: 'Sie ist nicht bekannt: Setzen Sie public_url (PUBLIC_URL) auf die Adresse, die andere benutzen.',
  addressYour: 'Andere erreichen sie unter',
  change: 'Speichern',
  fixed: 'Was feststeht und ab wann',
  fixedCurrency: 'Die Währung',
  fixedCurrencyLocked: 'Es gibt Artikel, deshalb nur noch eine mit {decimals} wie {currency}.',
  fixedCurrencyOpen:
    'Jede, solange es keinen Artikel gibt. Danach nur eine mit ebenso vielen Nachkommastellen, weil Preise sie haben: {currency} hat {decimals}.',
  fixedOthers: 'Land, Zeitzone und Sprache',
  fixedOthersText: 'Jederzeit änderbar.',
  fixedStores: 'Eigene Werte einer Filiale',
  fixedStoresText:
    'Jede Filiale beginnt mit dem, was hier steht, und behält danach ihre eigenen Werte. Ihre Währung steht nach dem ersten Verkauf fest.',
  decimals: 'keine Nachkommastellen | eine Nachkommastelle | {n} Nachkommastellen',
  guess:
    'Aus Ihrem Browser geschätzt, noch nichts gespeichert. Prüfen Sie die Währung, bevor der erste Preis eingegeben wird.',
  needs: 'Für eine Änderung ist {code} in allen Filialen nötig.',
  back: 'Erste Schritte',
  saved: 'Gespeichert. Neue Filialen beginnen damit.',
  set: 'Übernehmen',
  theChain: 'die Filialkette',
  title: 'Filialkette',
  values: 'Land und Währung',

  // fields.ts
  country: 'Land',
  currency: 'Währung',
  currencyHelp: 'Preise werden darin eingegeben, mit {decimals}.',
  currencyUnusual: 'Preise werden darin eingegeben, mit {decimals}. Üblich in {country}: {usual}.',
  language: 'Sprache der Bons',
  languageHelp: 'Sprache und Land: en-US, de-DE.',
  named: '{name} ({code})',
  zone: 'Zeitzone',
  zoneHelp: 'Teil des Städtenamens eingeben und wählen: Europe/Berlin.',
} satisfies Record<keyof typeof en, string>
