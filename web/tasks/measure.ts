import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { test as demo } from '../e2e/kit/test'
import { Person, type Tally } from './person'
import type { Task } from './task'

/** With the client of the release before, in the binary that `TILLKEEP` names. */
const IS_FORMER = process.env.TASKS_FORMER === '1'
const RESULTS = resolve(import.meta.dirname, `../../target/${IS_FORMER ? 'tasks-former' : 'tasks'}.json`)

const rounded = (value: number) => Math.round(value * 10) / 10

/** Each task by an administrator who begins at the first page; what each took is added to the results. */
export function measure(test: typeof demo, tasks: readonly Task[]): void {
  const done: Record<string, Tally> = {}

  for (const { name, prepare, former } of tasks) {
    test(name, async ({ page, as, chain, context, allow }) => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      allow(409, 422)
      const steps = await ((IS_FORMER && former) || prepare)(chain)
      await as('admin')
      const person = new Person(page)
      await page.goto('/')
      await page.locator('h1').waitFor()
      person.begin()
      await steps(person)
      done[name] = { ...person.tally, acting: rounded(person.tally.acting), waiting: rounded(person.tally.waiting) }
    })
  }

  test.afterAll(() => {
    console.table(done)
    mkdirSync(resolve(RESULTS, '..'), { recursive: true })
    const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {}
    writeFileSync(RESULTS, `${JSON.stringify({ ...before, ...done }, null, 2)}\n`)
  })
}
