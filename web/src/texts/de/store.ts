/** All that the pages of a store say, in German: their own rooms, and those of the parts that headquarters has as well. */
const rooms = import.meta.glob<Readonly<Record<string, string>>>(
  [
    './shop*.ts',
    './{account,audit,charts,customers,drawers,files,format,forms,frame,home,lists,permissions,reports,sales,session,shell,stock}.ts',
  ],
  { eager: true, import: 'default' },
)

export default Object.fromEntries(Object.entries(rooms).map(([path, texts]) => [path.slice(2, -3), texts]))
