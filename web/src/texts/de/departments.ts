import type en from '../en/departments'

export default {
  many: 'Warengruppen',
  one: 'Warengruppe',
  about:
    'Wonach Artikel sortiert sind, in der Zentrale und auf den Tasten der Kassen. Sie lassen sich bis zu vier Ebenen tief verschachteln.',
  searches: 'Code oder Name suchen',
  name: 'Name',
  code: 'Code',
  order: 'Reihenfolge',
  state: 'Zustand',
  ifDeleted:
    'Neue Artikel können dort nicht mehr eingeordnet werden. Sie muss leer sein: Artikel und Untergruppen zuerst verschieben.',
  // The fields.
  codeHelp: 'Kurz und eindeutig: GROC.',
  parent: 'Gehört zu',
  atTop: 'Keine: oberste Ebene',
  orderHelp: 'Kleinere Zahlen kommen zuerst, in Listen und an Kassen.',
  colour: 'Farbe',
  colourHelp: 'Ihrer Tasten an Kassen, etwa #2f7d32.',
  active: 'Aktiv',
  activeHelp: 'Aus: Kassen zeigen sie nicht.',
} satisfies Record<keyof typeof en, string>
