import type en from '../en/tillTraining'

export default {
  head: 'TRAINING – nichts wurde verkauft',
  total: 'Summe',
  tax: 'Steuern',
  change: 'Rückgeld',
  expected: 'Bargeld erwartet',
  report: 'Bericht des Trainings',
} satisfies Record<keyof typeof en, string>
