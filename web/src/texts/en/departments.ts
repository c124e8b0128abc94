export default {
  many: 'Departments',
  one: 'department',
  about:
    'What products are sorted by, at headquarters and on the buttons of tills. They may stand in one another, four deep.',
  searches: 'Search code or name',
  name: 'Name',
  code: 'Code',
  order: 'Order',
  state: 'State',
  ifDeleted: 'No new product can be put there. It has to be empty: move its products and the departments in it first.',
  // The fields.
  codeHelp: 'Short, and no other department has it: GROC.',
  parent: 'In',
  atTop: 'None: at the top',
  orderHelp: 'Lower numbers come first, in lists and at tills.',
  colour: 'Colour',
  colourHelp: 'Of its buttons at tills, such as #2f7d32.',
  active: 'Active',
  activeHelp: 'Off: tills do not show it.',
} as const
