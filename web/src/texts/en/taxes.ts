/** Taxes: groups, rates, and what a price comes to. */
export default {
  // TaxTabs.vue
  groups: 'Tax groups',
  rates: 'Tax rates',
  tabs: 'Tax groups and rates',

  // GroupsPage.vue
  group: 'tax group',
  groupAbout: 'Each product has one. It says which rates are charged, and whether prices contain them.',
  groupIfDeleted:
    'Receipts keep what was charged. A group that products have cannot be deleted: give them another one first.',
  chooseRates: 'Choose a rate in each row, or remove the row.',
  code: 'Code',
  columnRates: 'Rates',
  name: 'Name',
  no: '–',
  prices: 'Prices',
  search: 'Search code or name',
  state: 'State',
  usual: 'Usual',
  yes: 'yes',

  // RatesPage.vue
  authority: 'Paid to',
  onReceipts: 'On receipts',
  rate: 'tax rate',
  rateAbout: 'What is charged. A product has a tax group, and the group has one rate or several.',
  rateColumn: 'Rate',
  rateIfDeleted: 'Receipts keep what was charged. A rate that a group has cannot be deleted: take it out there first.',

  // RateFields.vue
  addFirst: 'Add one first',
  addRate: 'Add a rate',
  allStores: 'All stores',
  chooseRate: 'Choose a rate',
  compound: 'Compound',
  compoundOf: 'Rate {n} is compound',
  howRates:
    'A store that is named here has its own rates alone. A compound rate is taken on the price with the taxes above it.',
  noRate: 'Without a rate no tax is charged.',
  noRateYet: 'There is no tax rate yet. {link}',
  ofRate: 'Rate {n}',
  order: 'Rates, in the order in which they are reckoned',
  removeRate: 'Remove rate {n}',
  whereRate: 'Where rate {n} counts',

  // TaxPreview.vue
  amount: 'Amount',
  contains: 'contains the tax',
  net: 'Net',
  of: 'Of',
  preview: 'What a price comes to',
  price: 'Price',
  quantity: 'Quantity',
  ratesOfAll: 'Rates of all stores',
  store: 'Store',
  tax: 'Tax',
  taxes: 'Taxes',
  taxGroup: 'Tax group',
  total: 'Total',
  without: 'without tax',
  workOut: 'Work it out',

  // fields.ts
  active: 'Active',
  authorityHelp: 'The authority that gets it.',
  defaultGroup: 'Usual group',
  defaultGroupHelp: 'New products begin with it.',
  groupCodeHelp: 'Short, and no other group has it: STD.',
  letter: 'Letter on receipts',
  letterHelp: 'Marks the lines that have this tax, such as A.',
  modeExclusive: 'The tax comes on top',
  modeInclusive: 'Prices contain the tax',
  modeStore: 'As the store says',
  nameHelp: 'As receipts show it.',
  rateActiveHelp: 'Off: it is not charged any more.',
  rateCodeHelp: 'Short, and no other rate has it: NY.',

  // rates.ts
  compoundRate: '{rate} (compound)',
  noTax: 'No tax',
  otherRates: 'other rates in one store | other rates in {n} stores',
  rateName: '{name} {percent}',
  unknownRate: '?',
} as const
