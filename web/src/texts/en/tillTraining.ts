/** The paper of training. */
export default {
  head: 'TRAINING – nothing was sold',
  total: 'Total',
  tax: 'Taxes',
  change: 'Change',
  expected: 'Cash expected',
  report: 'Report of training',
} as const
