import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from '../e2e/kit/test'
import { Person, type Tally } from './person'
import { TASKS } from './tasks'

/** Each task on a chain as it is after its seed, by an administrator who begins at the first page. */

const RESULTS = resolve(import.meta.dirname, '../../target/tasks.json')
const done: Record<string, Tally> = {}

const rounded = (value: number) => Math.round(value * 10) / 10

for (const { name, prepare } of TASKS) {
  test(name, async ({ page, as, chain, context, allow }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    allow(409, 422)
    const steps = await prepare(chain)
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
