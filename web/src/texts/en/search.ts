export default {
  // The dialog.
  title: 'Search everything',
  placeholder: 'Receipt, product, customer, store, person, page',
  close: 'Close the search',
  found: 'What was found',
  keys: '↑ ↓ choose, Enter opens, Esc closes',
  // What it says of itself.
  hint: 'Type the end of a receipt number, or a part of a name, a code or a number.',
  more: 'Type at least {n} letters.',
  searching: 'Searching …',
  nothing: 'Nothing is called “{text}”. A receipt is found by the last {n} letters of its number or more.',
  results: 'nothing | 1 found | {n} found',
  leftOut: 'There was no answer in time about: {kinds}.',
  again: 'Search again',
  // Kinds of what is found.
  pages: 'Pages',
  receipts: 'Receipts',
  newestReceipts: 'Receipts (the newest {n})',
  products: 'Products',
  customers: 'Customers',
  stores: 'Stores',
  people: 'People',
  allProducts: 'All products with “{text}”',
  allCustomers: 'All customers with “{text}”',
  allStores: 'All stores with “{text}”',
  allPeople: 'All people with “{text}”',
  // What is known of one of them.
  refund: 'Refund',
  settlement: 'Payment on account',
  voided: 'Voided',
  inactive: 'Inactive',
} as const
