import type en from '../en/files'

export default {
  // Button
  csv: 'CSV herunterladen',
  preparing: 'Datei wird vorbereitet …',
  downloading: 'Wird heruntergeladen …',
  megabytes: '{size} MB',
  // What came of it
  kept: '{name} ist heruntergeladen.',
  // Import
  importCsv: 'Importieren',
  importAbout:
    'Eine CSV-Datei mit den Spalten des Downloads. Sie wird zuerst geprüft; dann wird alles übernommen oder nichts.',
  chooseFile: 'Datei auswählen',
  chooseAnother: 'Andere Datei auswählen',
  checking: 'Datei wird geprüft …',
  counts: '{created} neu, {updated} geändert, {unchanged} unverändert',
  nothingNew: 'Alles aus dieser Datei ist schon da.',
  faults:
    'Solange etwas nicht stimmt, wird nichts übernommen. | Ein Fehler; bis er behoben ist, wird nichts übernommen. | {n} Fehler; bis sie behoben sind, wird nichts übernommen.',
  faultsList: 'Fehler in der Datei',
  firstFaults: 'Das sind die ersten {n}.',
  place: 'Zeile {line}, {column}:',
  placeOfRow: 'Zeile {line}:',
  import: 'Übernehmen',
  importing: 'Wird übernommen …',
  imported: 'Importiert: {counts}.',
  fileEmpty: '{name} ist leer. Wählen Sie eine andere Datei.',
  fileLarge: '{name} ist größer als {most} MiB. Senden Sie sie in Teilen.',
  // Names of files, without their ending
  onDay: '{what}-{day}',
  between: '{what}-{from}-bis-{to}',
  since: '{what}-ab-{from}',
  until: '{what}-bis-{to}',
} satisfies Record<keyof typeof en, string>
