/** What starts a store server, ready to be pasted into a shell. */

/** A word for a POSIX shell, quoted only when it has to be. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The lines that HQ gave, `NAME=value` each, for a shell or a file that one reads. */
export function envLines(env: string): string[] {
  return env
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name, ...value] = line.split('=')
      return `${name}=${quoted(value.join('='))}`
    })
}

const dataDir = (code: string) => quoted(`store-${code.toLowerCase()}`)

/** One line that starts the store server of `code`. */
export function startCommand(env: string, code: string): string {
  return [...envLines(env), `tillkeep store --data-dir ${dataDir(code)}`].join(' ')
}

export const ENV_FILE = 'store.env'

/** The same from {@link ENV_FILE}, so that the token is in no history of a shell. */
export function fileCommand(code: string): string {
  return `( set -a; . ./${ENV_FILE}; exec tillkeep store --data-dir ${dataDir(code)} )`
}
