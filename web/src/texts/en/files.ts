export default {
  // Button
  csv: 'Download CSV',
  preparing: 'Preparing the file …',
  downloading: 'Downloading …',
  megabytes: '{size} MB',
  // What came of it
  kept: '{name} is downloaded.',
  // Names of files, without their ending
  onDay: '{what}-{day}',
  between: '{what}-{from}-to-{to}',
  since: '{what}-from-{from}',
  until: '{what}-until-{to}',
} as const
