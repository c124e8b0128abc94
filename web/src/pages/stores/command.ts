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

/** Stands for the address of headquarters where that does not know its own. */
export const ADDRESS_LINE = 'HQ_URL=https://ADDRESS-OF-HEADQUARTERS'

const dataDir = (code: string) => quoted(`store-${code.toLowerCase()}`)

export const ENV_FILE = 'store.env'

/**
 * Asks for the lines of the file, so that the token is typed or pasted into no command: it would stand in the history of the
 * shell and in the list of processes.
 */
export const KEEP_COMMAND = `( umask 077; cat >${ENV_FILE} )`

/** What starts the store server of `code` with {@link ENV_FILE}. */
export function startCommand(code: string): string {
  return `( set -a; . ./${ENV_FILE}; exec tillkeep store --data-dir ${dataDir(code)} )`
}
