/** Who sales are credited to. */
export default {
  // ListPage
  many: 'Sales representatives',
  one: 'sales representative',
  about: 'Who a sale is credited to. Tills name one for a sale or for a line.',
  searches: 'Search code or name',
  ifDeleted: 'No till offers this name any more. Sales keep it.',
  state: 'State',

  // fields
  net_sales: 'Sales without tax',
  profit: 'Profit',
  code: 'Code',
  codeHelp: 'Short, and no other has it: ANN.',
  name: 'Name',
  store: 'Store',
  allStores: 'All stores',
  user: 'User',
  userHelp: 'When this person signs in at tills too.',
  noUser: 'None',
  email: 'Email',
  telephone: 'Telephone',
  commission: 'Commission',
  commissionOn: 'Commission is on',
  commissionOnHelp: 'After refunds, over a whole period.',
  active: 'Active',
  activeHelp: 'Off: tills do not offer this name.',
} as const
