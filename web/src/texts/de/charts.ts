import type en from '../en/charts'

export default {
  // EChart.vue
  notDrawn: 'Das Diagramm lässt sich hier nicht zeichnen. Die Tabelle zeigt dieselben Zahlen.',

  // FiguresChart.vue
  asTable: 'Als Tabelle zeigen',

  // sync/HistoryChart.vue
  barsByDay: 'Balken je Tag; die Pfeiltasten wechseln von einem zum nächsten',
  barsByHour: 'Balken je Stunde; die Pfeiltasten wechseln von einem zum nächsten',
  failed: 'Fehlgeschlagen',
  sayFailed: '{n} fehlgeschlagen',
  saySettled: '{n} später erledigt',
  sayTaken: '{n} angenommen',
  sayWarned: '{n} mit Warnung',
  settled: 'Später erledigt',
  taken: 'Angenommen',
  warned: 'Mit Warnung',
  whatCame: '{at}: {parts}',
  whatCameNothing: '{at}: nichts',
  when: 'Wann',
} satisfies Record<keyof typeof en, string>
