/** All that headquarters says, in German: every room that is neither the till's nor a store's own. */
const rooms = import.meta.glob<Readonly<Record<string, string>>>(
  ['./*.ts', '!./{hq,store,till}.ts', '!./{till,shop}*.ts'],
  { eager: true, import: 'default' },
)

export default Object.fromEntries(Object.entries(rooms).map(([path, texts]) => [path.slice(2, -3), texts]))
