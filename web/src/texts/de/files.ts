import type en from '../en/files'

export default {
  // Button
  csv: 'CSV herunterladen',
  preparing: 'Datei wird vorbereitet …',
  downloading: 'Wird heruntergeladen …',
  megabytes: '{size} MB',
  // What came of it
  kept: '{name} ist heruntergeladen.',
  // Names of files, without their ending
  onDay: '{what}-{day}',
  between: '{what}-{from}-bis-{to}',
  since: '{what}-ab-{from}',
  until: '{what}-bis-{to}',
} satisfies Record<keyof typeof en, string>
