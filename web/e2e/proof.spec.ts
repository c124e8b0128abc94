import { violations } from './kit/axe'
import { Chain } from './kit/chain'
import { expect, said, settled, test as base } from './kit/test'

/** What headquarters does only for a user who has just shown that it is them. Its clock goes on when a test wants it to. */
const test = base.extend<object, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.startEmpty()
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 60_000 },
  ],
})

const SIXTEEN_MINUTES = 16 * 60_000

test('a role is made after the PIN was typed once more, with all that was typed before', async ({
  page,
  as,
  chain,
  allow,
}) => {
  allow(401, 403)
  await as('admin')
  await chain.hq.restart({ CLOCK_OFFSET_MS: String(SIXTEEN_MINUTES) })
  await page.goto('/hq/roles')
  await settled(page)
  await page.getByRole('button', { name: 'New role' }).click()
  const form = page.getByRole('dialog', { name: 'New role' })
  await form.locator('[name=code]').fill('buyer')
  await form.locator('[name=name]').fill('Buyer')
  await form.getByRole('button', { name: 'Create role' }).click()

  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await expect(proof.getByLabel('PIN')).toBeFocused()
  expect(await violations(page)).toEqual([])
  // Cancelled: nothing was made, nothing is lost.
  await page.keyboard.press('Escape')
  await expect(proof).toBeHidden()
  await expect(form.getByRole('alert')).toContainText('you did not confirm that it is you')
  await expect(form.locator('[name=name]')).toHaveValue('Buyer')

  await form.getByRole('button', { name: 'Create role' }).click()
  await proof.getByLabel('PIN').fill('000001')
  await proof.getByRole('button', { name: 'Confirm' }).click()
  await expect(proof.getByRole('alert')).toContainText('This PIN is not right')
  await proof.getByLabel('PIN').fill(chain.account('admin').pin)
  await proof.getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Buyer')

  // From here on it is fresh: what follows is not asked for again.
  await page.goto('/hq/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const user = page.getByRole('dialog', { name: 'New user' })
  await user.getByLabel('User name').fill('newcomer')
  await user.locator('[name=displayName]').fill('New Comer')
  await user.getByRole('button', { name: 'Create user' }).click()
  await expect(said(page, 'New Comer is created.')).toBeVisible()
})
