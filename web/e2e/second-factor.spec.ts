import type { Page } from '@playwright/test'
import { violations } from './kit/axe'
import { Chain, Client } from './kit/chain'
import { addDevice, codeOf } from './kit/factors'
import { expect, settled, signIn, test as base } from './kit/test'

/** With a headquarters of its own, at the name that browsers let have passkeys without TLS. */
const test = base.extend<object, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.startEmpty()
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  baseURL: async ({ chain }, use) => {
    await use(chain.hq.url.replace('127.0.0.1', 'localhost'))
  },
})

const SECURITY = '/hq/account/security'

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in to headquarters' })).toBeVisible()
}

/** Sets a passkey up on the page that is open. */
async function setUpPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Set up a passkey' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up a passkey' })
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Set it up' }).click()
}

/** The recovery codes that are shown this once. */
async function keepCodes(page: Page): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: 'Your recovery codes' })
  const sheet = await dialog.locator('pre').innerText()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(dialog).toBeVisible()
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await expect(dialog).toBeHidden()
  // Between the address and what they are for.
  const codes = sheet.split('\n\n')[2]!.split('\n')
  expect(codes).toHaveLength(10)
  return codes
}

/** Sets an app up on the page that is open; its secret. */
async function setUpApp(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Set up an app' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up an authenticator app' })
  await dialog.getByRole('button', { name: 'Go on' }).click()
  await expect(dialog.getByRole('img', { name: /QR code/ })).toBeVisible()
  expect(await violations(page)).toEqual([])
  const secret = await dialog.getByLabel('Secret', { exact: true }).innerText()
  expect(secret).toMatch(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/)
  const code = dialog.getByLabel('Code that the app shows')
  await expect(code).toBeFocused()
  await code.fill(codeOf(secret))
  await code.press('Enter')
  return secret
}

const secondStep = (page: Page) => page.getByRole('heading', { name: 'Confirm that it is you' })
const code = (page: Page) => page.locator('[name=code]')
const isIn = (page: Page, name: string) =>
  expect(page.getByRole('button', { name: `Account of ${name}` })).toBeVisible()

test('a passkey is set up, and signs in', async ({ page, chain, allow }) => {
  allow(401)
  await chain.join({ username: 'pat', displayName: 'Pat' })
  await addDevice(page)
  await page.goto(SECURITY)
  await signIn(page, chain.account('pat'))
  await expect(page.getByText('Your PIN alone signs you in here')).toBeVisible()
  await setUpPasskey(page, 'Laptop')
  await keepCodes(page)
  const row = page.getByRole('row', { name: /^Laptop/ })
  await expect(row).toContainText('Passkey')
  await expect(page.getByText('10 codes left.')).toBeVisible()
  // The same device has one already.
  await setUpPasskey(page, 'Laptop again')
  await expect(page.getByRole('alert')).toContainText('has a passkey of yours already')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

  await signOut(page)
  await signIn(page, chain.account('pat'))
  await expect(secondStep(page)).toBeVisible()
  expect(await violations(page)).toEqual([])
  await expect(page.getByRole('button', { name: 'Use a passkey' })).toBeFocused()
  await page.keyboard.press('Enter')
  await isIn(page, 'Pat')
  await page.goto(SECURITY)
  await expect(row).not.toContainText('never')

  await page.getByRole('button', { name: 'Remove Laptop' }).click()
  await page.getByRole('dialog', { name: 'Remove Laptop?' }).getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('Nothing but your PIN yet')).toBeVisible()
  await signOut(page)
  await signIn(page, chain.account('pat'))
  await isIn(page, 'Pat')
})

test('an app is set up, and its codes sign in; a recovery code does once', async ({ page, chain, allow }) => {
  allow(401)
  await chain.join({ username: 'toni', displayName: 'Toni' })
  await page.goto(SECURITY)
  await signIn(page, chain.account('toni'))
  const secret = await setUpApp(page)
  const [recovery] = await keepCodes(page)

  await signOut(page)
  await signIn(page, chain.account('toni'))
  await expect(code(page)).toBeFocused()
  // That of now was used to set it up, and is good once.
  const next = codeOf(secret, 1)
  await code(page).fill(`${next.slice(0, 3)} ${next.slice(3)}`)
  await code(page).press('Enter')
  await isIn(page, 'Toni')

  for (const [typed, isGood] of [
    [recovery!.toLowerCase().replaceAll('-', ' '), true],
    [recovery!, false],
  ] as const) {
    await signOut(page)
    await signIn(page, chain.account('toni'))
    await code(page).fill(typed)
    await code(page).press('Enter')
    if (isGood) await isIn(page, 'Toni')
    else await expect(page.getByRole('alert')).toContainText('This code is not right')
  }
})

test('a wrong code is said, and the way back keeps the name', async ({ page, chain, allow }) => {
  allow(401)
  await chain.join({ username: 'wrong', displayName: 'Wrong' })
  await page.goto(SECURITY)
  await signIn(page, chain.account('wrong'))
  await setUpApp(page)
  await keepCodes(page)
  await signOut(page)
  await signIn(page, chain.account('wrong'))
  await code(page).fill('not a code')
  await code(page).press('Enter')
  await expect(page.getByRole('alert')).toContainText('This code is not right')
  await expect(code(page)).toBeFocused()
  await page.getByRole('button', { name: 'Back' }).click()
  await expect(page.getByLabel('User name')).toHaveValue('wrong')
  await expect(page.getByLabel('PIN')).toBeFocused()
})

test('who lost a second factor has it removed by a user who may', async ({ page, as, chain, allow }) => {
  allow(401)
  const id = await chain.join({ username: 'lost', displayName: 'Lost' })
  await page.goto(SECURITY)
  await signIn(page, chain.account('lost'))
  await setUpApp(page)
  await keepCodes(page)
  await signOut(page)

  await as('admin')
  await page.goto('/hq/users?search=lost')
  await expect(page.getByRole('row', { name: /^Lost/ })).toContainText('yes')
  await page.goto(`/hq/users/${id}`)
  await page.getByRole('button', { name: 'Remove second factor' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove second factor' }).click()
  await expect(page.getByRole('button', { name: 'Remove second factor' })).toBeHidden()
  const { status } = await new Client(chain.hq.url).send('POST', '/auth/login', chain.account('lost'))
  expect(status).toBe(200)
})

test('the dashboard names who could do much and has no second factor, and leads there', async ({ page, as, chain }) => {
  await chain.hire('mighty', ['stores.view', 'stores.create'])
  await as('admin')
  await page.goto('/hq/today')
  const notice = page.getByRole('region', { name: 'To look after' }).locator('[data-kind=no_second_factor]')
  await expect(notice).toContainText('No second factor')
  expect(await violations(page)).toEqual([])
  await notice.getByRole('link', { name: 'mighty' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('mighty')
  await expect(page.getByRole('button', { name: 'Remove second factor' })).toHaveCount(0)
})

test('whoever must have a second factor sets one up before anything else', async ({ page, chain, allow }) => {
  allow(401, 403)
  await chain.hire('duty', ['stores.view', 'stores.create'])
  await chain.hq.restart({ SECOND_FACTOR: 'required' })
  try {
    await addDevice(page)
    await page.goto('/hq/stores')
    await signIn(page, chain.account('duty'))
    await expect(page).toHaveURL('/second-factor?redirect=/hq/stores')
    await expect(page.getByText('so you must have a second factor')).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.goto('/hq/account')
    await expect(page).toHaveURL('/second-factor?redirect=/hq/account')
    await page.reload()
    await expect(page.getByRole('heading', { name: 'Set up a second factor' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Go on' })).toHaveCount(0)
    await setUpPasskey(page, 'Laptop')
    await keepCodes(page)
    await page.getByRole('button', { name: 'Go on' }).click()
    await expect(page).toHaveURL('/hq/account')
    await page.goto('/hq/stores')
    await settled(page)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Stores')
  } finally {
    await chain.hq.restart({ SECOND_FACTOR: 'optional' })
  }
})
