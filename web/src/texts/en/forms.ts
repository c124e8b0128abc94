/** What forms, fields, choices and dialogs say. */
export default {
  // composables/userLookup.ts: in `find`
  aUser: 'user',
  // composables/fields.ts: after the name of a field, as in `wrong`
  needed: 'is needed',
  oneDay: 'must have one day at least',
  wholeNumber: 'must be a whole number',
  decimals: 'must be a number with at most three decimals',
  wholeAmount: 'must be a whole amount',
  amount: 'must be an amount with at most {n} decimal | must be an amount with at most {n} decimals',
  percentage: 'must be a percentage with at most {n} decimal | must be a percentage with at most {n} decimals',
  atMostLetters: 'must have at most {n} character | must have at most {n} characters',
  atLeastLetters: 'must have at least {n} character | must have at least {n} characters',
  asHelpSays: 'must be written as the help says',
  oneOf: 'must be one of {words}',
  atMost: 'must be at most {most}',
  atLeast: 'must be at least {least}',
  between: 'must be between {least} and {most}',
  atMostLines: 'must have at most {n} line | must have at most {n} lines',
  entry: 'entry {n}',
  within: 'in {place}: {words}',
  several: '{one}; {other}',
  // composables/amounts.ts
  smallestUnit: 'smallest unit',
  wholeNumberIn: 'A whole number in {unit}.',
  // composables/kind.ts
  noSuch: 'There is no such {what}, or not any more.',
  // composables/useForce.ts
  belowMinPrice: 'Below the lowest price',
  saveAllTheSame: 'Save all the same',
  badCheckDigit: 'A barcode has a wrong check digit',
  keepAllTheSame: 'Keep it all the same',
  // composables/inWords.ts
  on: 'on',
  off: 'off',
  nothing: 'nothing',
  inUnit: '{value} {unit}',
  // components/FormField.vue
  wrong: '{field} {words}',
  // components/EntityForm.vue, components/SaveBar.vue
  sections: 'Sections of this form',
  saving: 'Saving …',
  unchanged: 'Nothing was changed.',
  unsaved: '{n} change not saved | {n} changes not saved',
  wrongFields: '{n} field is not right. | {n} fields are not right.',
  showFirst: 'Show the first',
  otherField: '{field} {words}',
  withOthers: '{error}: {others}',
  discardAndReload: 'Discard and reload',
  // components/ChangedSince.vue: the row was changed since it was opened
  changedBy: '{name} changed this row at {at}, after you opened it. What you typed is kept, and not saved yet.',
  changedByYou:
    'You changed this row yourself at {at}, in another window. What you typed here is kept, and not saved yet.',
  changedAt: 'Somebody else changed this row at {at}, after you opened it. What you typed is kept, and not saved yet.',
  changed: 'Somebody else changed this row after you opened it. What you typed is kept, and not saved yet.',
  lastChange: 'Last changed by {name} at {at}.',
  lastChangeAt: 'Last changed at {at}.',
  takenOver: 'Taken over, since you did not touch it:',
  fromTo: '{field}: {before} → {now}',
  bothChanged: 'You both changed this. Choose what counts:',
  theirs: 'Theirs: {value}',
  yours: 'Yours: {value}',
  thenSave: 'Save again when you agree.',
  chooseFirst: 'Choose what counts for {n} field, then save. | Choose what counts for {n} fields, then save.',
  // components/FormDialog.vue
  closeTitle: 'Close without saving?',
  closeText: 'What you typed here is not saved and will be lost.',
  close: 'Close',
  // components/FormDialog.vue, components/ConfirmDialog.vue
  cancel: 'Cancel',
  // components/SearchSelect.vue
  typeName: 'Type a name',
  chooseNo: 'Choose no {what}',
  notLookedUp: 'The list could not be read. Type again in a moment.',
  looking: 'Looking …',
  noneCalled: 'No {what} is called so.',
} as const
