export default {
  // The bar.
  brand: 'Tillkeep',
  skip: 'Skip to the content',
  menu: 'Menu',
  main: 'Main',
  search: 'Search',
  searchEverything: 'Search everything',
  searchKeys: 'Search everything: / or Ctrl-K (Cmd-K)',
  accountOf: 'Account of {name}',
  // The menu of the person.
  account: 'Account and sessions',
  security: 'Security of your account',
  colours: 'Colours',
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  contrast: 'High contrast',
  language: 'Language',
  signOut: 'Sign out',
  // Links from a row to what was sold and is there.
  business: 'What was sold and is there',
  sales: 'Sales',
  drawers: 'Drawers',
  stock: 'Stock',
  stockEverywhere: 'Stock in every store',
  stockChanges: 'Stock changes',
  salesAndReturns: 'Sales and returns',
} as const
