import frame from './frame'

/** All that a till says, in German: its own rooms, whose names begin with `till`, and that of errors. */
const own = import.meta.glob<Readonly<Record<string, string>>>(['./till*.ts', '!./till.ts'], {
  eager: true,
  import: 'default',
})

export default { frame, ...Object.fromEntries(Object.entries(own).map(([path, texts]) => [path.slice(2, -3), texts])) }
