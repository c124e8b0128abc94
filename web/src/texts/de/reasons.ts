import type en from '../en/reasons'

/** What a till offers where it asks why. */
export default {
  // ListPage
  many: 'Gründe',
  one: 'Grund',
  about:
    'Was eine Kasse anbietet, wenn sie nach dem Warum fragt: bei Rabatt, Rückgabe, Kassenschublade. Eine Filiale kann einen davon statt eines Textes verlangen.',
  searches: 'Code oder Name suchen',
  ifDeleted: 'Keine Kasse bietet ihn mehr an. Frühere Angaben behalten ihn.',
  note: 'Notiz',
  noteAsked: 'Wird verlangt',
  state: 'Zustand',
  allKinds: 'Alle Arten',

  // fields
  discount: 'Rabatt',
  override: 'Geänderter Preis',
  refund: 'Rückgabe',
  void: 'Storno',
  paid_in: 'Einzahlung',
  paid_out: 'Auszahlung',
  drop: 'Abschöpfung in den Tresor',
  float_add: 'Wechselgeld ergänzt',
  no_sale: 'Kassenschublade ohne Verkauf geöffnet',
  force_close: 'Kassenschublade zwangsweise abgeschlossen',
  adjustment: 'Bestand von Hand geändert',
  removed_line: 'Position entfernt',
  kind: 'Art',
  kindHelp: 'Wofür es ein Grund ist. Später nicht änderbar.',
  kindFixed: 'Steht fest: Für eine andere Art einen anderen anlegen.',
  code: 'Code',
  codeHelp: 'Kurz und in seiner Art eindeutig: DAMAGED.',
  name: 'Name',
  nameHelp: 'Wie Kassen und Bons ihn zeigen.',
  order: 'Reihenfolge',
  orderHelp: 'Kleinere Zahlen kommen an Kassen zuerst.',
  asksNote: 'Verlangt eine Notiz',
  asksNoteHelp: 'Was genau, in den Worten des Kassierers.',
  active: 'Aktiv',
  activeHelp: 'Aus: Kassen bieten ihn nicht an.',
} satisfies Record<keyof typeof en, string>
