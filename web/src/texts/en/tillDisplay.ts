/** What the customer reads on the display of a till. */
export default {
  welcome: 'Welcome',
  thanks: 'Thank you',
  paid: 'Your total',
  change: 'Your change',
  yourGoods: 'Your goods',
  total: 'Total',
  saved: 'You save',
  youGetBack: 'You get back',
  toBeConfirmed: 'To be confirmed',
  training: 'Training: nothing is sold',
} as const
