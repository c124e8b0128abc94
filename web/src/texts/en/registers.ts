export default {
  title: 'Registers',
  about: 'The registers of a store that have opened a drawer lately.',
  // Where they are made.
  whereTitle: 'Where registers are made',
  where: 'Registers are made at their store, not here: at a till, by somebody with {first} or {second} there.',
  how: 'Whoever manages the store signs in at the till and adds it as a register: with two digits, which stand in its receipt numbers for ever, a name, and the id of the till.',
  shown: 'Headquarters shows it here within seconds of its first drawer.',
  forTills: 'Programs of tills do it with {route} at the server of the store.',
  // The list.
  store: 'Store',
  drawersOf: 'Its drawers',
  what: 'registers',
  none: 'No drawer has come from here yet',
  noStore: 'There is no store yet',
  storeFirst: 'A register belongs to a store. Make the store first, and start its server.',
  toStores: 'To the stores',
  register: 'Register',
  newestDrawer: 'Newest drawer',
  opened: 'Opened',
  closed: 'Closed',
  stillOpen: 'still open',
} as const
