/** What is missing before the first sale. */
export default {
  // SetupList.vue
  done: 'Done',
  heading: 'Before the first sale',
  later: 'To do',
  next: 'Next',
  progress: '{done} of {all} done',

  // SetupPage.vue
  about: 'What a new chain needs before its first sale, in an order that works.',
  nothingMissing: 'Everything is there',
  nothingMissingText: 'Tills sell what is under Products, and their sales come in here.',
  title: 'First steps',

  // steps.ts
  chain: 'Country and currency',
  chainAction: 'To the chain',
  chainText: 'Prices are typed in this currency, and new stores begin with it. Your browser’s region is proposed.',
  department: 'A department',
  departmentAction: 'To the departments',
  departmentText: 'What products are sorted by.',
  person: 'A person who sells',
  personAction: 'To the users',
  personText:
    'A user besides you, with a role such as Cashier in the store. The page says what they do on their first day.',
  product: 'A product',
  productAction: 'Add a product',
  productText: 'With its price, its department and its tax group.',
  store: 'A store',
  storeAction: 'To the stores',
  storeText:
    'Provision it on its page: that shows the command which starts the store’s server. Its registers are made there.',
  tax: 'A tax',
  taxAction: 'To the taxes',
  taxText: 'Add a tax rate, then a tax group that has it. Where nothing is taxed, a rate of 0 % says so.',
  tender: 'A tender',
  tenderAction: 'To the tenders',
  tenderText: 'What customers pay with. Cash is there from the start; add cards and whatever else your stores take.',
} as const
