import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { Server, shownStart } from './kit/process'
import { expect, said, test } from './kit/test'

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Sync token of S77' })
const rowOf = (page: Page) => page.getByRole('row', { name: /^S77 Mill Lane/ })

async function createStore(page: Page): Promise<void> {
  await page.goto('/hq/stores')
  await page.getByRole('link', { name: 'New store' }).click()
  // By their names: the search box of the list is labelled with a code and a name too.
  await page.locator('[name=code]').fill('S77')
  await page.locator('[name=name]').fill('Mill Lane')
  await page.getByRole('button', { name: 'Create store' }).click()
  await expect(page.getByRole('heading', { name: 'S77 Mill Lane' })).toBeVisible()
}

/** The token is shown once, with what starts the store. */
async function provision(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Provision', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Provision' }).click()
  const dialog = dialogOf(page)
  const command = await shownStart(dialog)
  await dialog.getByRole('button', { name: 'Copy: 1. Save these lines as store.env' }).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(command).toContain(copied)
  // Headquarters of these tests is reached on this machine alone, which is not handed out without a word.
  await expect(dialog.locator('[data-part=address]')).toContainText('set public_url')
  // In a command it would be seen by everybody on the machine, and stand in the history of the shell.
  await expect(dialog.locator('[data-part=file]')).not.toContainText('TOKEN')
  // Neither Escape nor a press beside it takes it away.
  await page.keyboard.press('Escape')
  await expect(dialog).toBeVisible()
  await dialog.getByRole('button', { name: 'I have kept it' }).click()
  await expect(dialog).toBeHidden()
  const token = /SYNC_TOKEN=(\S+)/.exec(command)![1]!
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]) + document.body.innerHTML)
  expect(kept).not.toContain(token)
  return command
}

/** From the board to the page of the store. */
async function openSettings(page: Page): Promise<void> {
  await rowOf(page).getByRole('link').first().click()
  await page.getByRole('link', { name: 'Settings and token' }).click()
}

/** A new token, with which the old one ends at once. */
async function rotate(page: Page): Promise<string> {
  await openSettings(page)
  const dialog = dialogOf(page)
  await page.getByRole('button', { name: 'Rotate token' }).click()
  await page.getByLabel(/The old token works on for/).fill('0')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate token' }).click()
  const second = await shownStart(dialog)
  await dialog.getByRole('button', { name: 'I have kept it' }).click()
  return second
}

async function revoke(page: Page): Promise<void> {
  await openSettings(page)
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await expect(page.getByRole('dialog')).toContainText('Tills go on selling')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(said(page, 'The token of S77 is revoked.')).toBeVisible()
  await page.goto('/hq/sync?search=S77')
  await expect(rowOf(page)).toContainText('Not connected')
}

test('a store is made, provisioned, started with the shown command, rotated and revoked', async ({
  page,
  as,
  chain,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await as('admin')
  await createStore(page)
  const command = await provision(page)
  const row = rowOf(page)

  // As an operator would: pasted into a shell.
  const shop = await new Server(['bash', '-c', command], join(chain.directory, 's77')).start()
  await page.goto('/hq/sync?search=S77')
  await expect(row).toContainText('Well')
  await expect(row).toContainText('up to date')

  const second = await rotate(page)
  expect(second).not.toBe(command)
  await page.goto('/hq/sync?search=S77')
  await expect(row).toContainText('Not connected')
  await shop.kill()
  const again = await new Server(['bash', '-c', second], join(chain.directory, 's77')).start()
  await expect(row).not.toContainText('Not connected')

  await revoke(page)
  await again.kill()

  await openSettings(page)
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
  await expect(said(page, 'S77 is out of use.')).toBeVisible()
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  await expect(said(page, 'S77 is in use.')).toBeVisible()
  // For the tests that follow, the chain is what it was.
  const { pathname } = new URL(page.url())
  await chain.admin.post(`/stores/${pathname.split('/').at(-1)}/deactivate`, { force: true })
})

test('a store is changed, and what is wrong is said at its field', async ({ page, as, chain, allow }) => {
  allow(409, 422)
  await as('admin')
  await page.goto(`/hq/stores/${chain.sites[1]!.id}`)
  const city = page.getByLabel('City')
  await city.fill('Newport')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(said(page, /^Saved/)).toBeVisible()
  expect(await chain.admin.get(`/stores/${chain.sites[1]!.id}`)).toMatchObject({ city: 'Newport' })
  await page.goto('/hq/stores/new')
  await page.locator('[name=code]').fill('S01')
  await page.getByRole('button', { name: 'Create store' }).click()
  await expect(page.getByText('Name is needed')).toBeVisible()
  await page.locator('[name=name]').fill('Another')
  await page.getByRole('button', { name: 'Create store' }).click()
  await expect(page.getByText(/S01/).last()).toBeVisible()
  await expect(page).toHaveURL('/hq/stores/new')
})
