export default {
  // Button
  csv: 'Download CSV',
  preparing: 'Preparing the file …',
  downloading: 'Downloading …',
  megabytes: '{size} MB',
  // What came of it
  kept: '{name} is downloaded.',
  // Import
  importCsv: 'Import',
  importAbout: 'A CSV file with the columns of the download. It is checked first; then all of it is taken, or nothing.',
  chooseFile: 'Choose a file',
  chooseAnother: 'Choose another file',
  checking: 'Checking the file …',
  counts: '{created} new, {updated} changed, {unchanged} as they are',
  nothingNew: 'Everything in this file is there already.',
  faults:
    'Nothing is taken while something is wrong. | One thing is wrong; nothing is taken until it is mended. | {n} things are wrong; nothing is taken until they are mended.',
  faultsList: 'What is wrong with the file',
  firstFaults: 'These are the first {n}.',
  place: 'Line {line}, {column}:',
  placeOfRow: 'Line {line}:',
  import: 'Import',
  importing: 'Importing …',
  imported: 'Imported: {counts}.',
  fileEmpty: '{name} is empty. Choose another file.',
  fileLarge: '{name} is larger than {most} MiB. Send it in parts.',
  // Names of files, without their ending
  onDay: '{what}-{day}',
  between: '{what}-{from}-to-{to}',
  since: '{what}-from-{from}',
  until: '{what}-until-{to}',
} as const
