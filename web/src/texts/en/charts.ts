export default {
  // EChart.vue
  notDrawn: 'The chart cannot be drawn here. The table has the same figures.',

  // FiguresChart.vue
  asTable: 'Show as a table',

  // sync/HistoryChart.vue
  barsByDay: 'Bars by day; the arrow keys go from one to the next',
  barsByHour: 'Bars by hour; the arrow keys go from one to the next',
  failed: 'Failed',
  sayFailed: '{n} failed',
  saySettled: '{n} settled later',
  sayTaken: '{n} taken',
  sayWarned: '{n} with a warning',
  settled: 'Settled later',
  taken: 'Taken',
  warned: 'With a warning',
  whatCame: '{at}: {parts}',
  whatCameNothing: '{at}: nothing',
  when: 'When',
} as const
