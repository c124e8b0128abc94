import type en from '../en/tillDisplay'

/** What the customer reads on the display of a till. */
export default {
  welcome: 'Willkommen',
  thanks: 'Vielen Dank',
  paid: 'Ihre Summe',
  change: 'Ihr Rückgeld',
  yourGoods: 'Ihre Waren',
  total: 'Summe',
  saved: 'Sie sparen',
  youGetBack: 'Sie bekommen zurück',
  toBeConfirmed: 'Noch zu bestätigen',
  training: 'Übung: Es wird nichts verkauft',
} satisfies Record<keyof typeof en, string>
