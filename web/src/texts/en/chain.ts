/** What new stores begin with. */
export default {
  // ChainPage.vue
  about: 'What new stores begin with, and what prices are typed in.',
  address: 'The address of this headquarters',
  addressAbout: 'What stands on the sheet of a new colleague, and in the command that starts a store’s server.',
  addressBrowser: 'Where your browser found it.',
  addressListener: 'Where the server listens.',
  addressSetting: 'As the setting public_url says.',
  addressUnknown: 'It is not known: set public_url (PUBLIC_URL) to the address that others use.',
  addressYour: 'Others reach it at',
  change: 'Save',
  fixed: 'What stays, and from when on',
  fixedCurrency: 'The currency',
  fixedCurrencyLocked: 'There are products, so it can only change to one with {decimals}, as {currency} has.',
  fixedCurrencyOpen:
    'Any, until there is a product. From then on only one with as many decimals, since prices have them: {currency} has {decimals}.',
  fixedOthers: 'Country, time zone and language',
  fixedOthersText: 'They can change at any time.',
  fixedStores: 'A store’s own',
  fixedStoresText:
    'Each store begins with what stands here and keeps its own from then on. Its currency is fixed after its first sale.',
  decimals: 'no decimals | one decimal | {n} decimals',
  guess: 'Guessed from your browser; nothing is saved yet. Look at the currency before the first price is typed.',
  needs: 'A change needs {code} in all stores.',
  back: 'First steps',
  saved: 'Saved. New stores begin with this.',
  set: 'Use these',
  theChain: 'the chain',
  title: 'Chain',
  values: 'Country and currency',

  // fields.ts
  country: 'Country',
  currency: 'Currency',
  currencyHelp: 'Prices are typed in it, with {decimals}.',
  currencyUnusual: 'Prices are typed in it, with {decimals}. Usual in {country}: {usual}.',
  language: 'Language of receipts',
  languageHelp: 'Language and country: en-US, de-DE.',
  named: '{name} ({code})',
  zone: 'Time zone',
  zoneHelp: 'Type a part of the city and choose: America/New_York.',
} as const
