import type { Page } from '@playwright/test'
import { violations } from './kit/axe'
import { WRONG_PIN, type Chain } from './kit/chain'
import { expect, menu, settled, signIn, test } from './kit/test'

test('a user signs in with name and PIN, and comes to the page they wanted', async ({ page, chain }) => {
  await page.goto('/hq/stores?search=Harbor')
  await expect(page).toHaveURL(/\/login\?redirect=/)
  await signIn(page, chain.account('admin'))
  await expect(page).toHaveURL('/hq/stores?search=Harbor')
  await expect(page.getByRole('heading', { name: 'Stores' })).toBeVisible()
  await page.reload()
  await expect(page).toHaveURL('/hq/stores?search=Harbor')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/login/)
  expect(await page.evaluate(() => localStorage.getItem('tillkeep.session'))).toBeNull()
  await page.goto('/hq/stores')
  await expect(page).toHaveURL(/\/login/)
})

test('a wrong PIN is said in words and lets no user in', async ({ page, allow }) => {
  allow(401)
  await page.goto('/login')
  await signIn(page, { username: 'admin', pin: WRONG_PIN })
  await expect(page.getByRole('alert')).toContainText('do not belong together')
  await expect(page.getByLabel('PIN')).toHaveValue('')
})

test('the way back after the sign-in never leads to another site', async ({ page, chain }) => {
  await page.goto('/login?redirect=//evil.example/hq')
  await signIn(page, chain.account('admin'))
  await expect(page).toHaveURL('/hq/today')
})

test('a token near its end is replaced before it is used', async ({ page, as }) => {
  await as('admin')
  await page.goto('/hq/sync')
  await expect(page.getByRole('heading', { name: 'Synchronisation' })).toBeVisible()
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('tillkeep.session')!)
    localStorage.setItem('tillkeep.session', JSON.stringify({ ...session, expiresAt: Date.now() + 1000 }))
  })
  const before = await page.evaluate(() => localStorage.getItem('tillkeep.session'))
  const refreshed = page.waitForResponse('**/api/v1/auth/refresh')
  await page.reload()
  expect((await refreshed).status()).toBe(200)
  await expect(page.getByRole('heading', { name: 'Synchronisation' })).toBeVisible()
  expect(await page.evaluate(() => localStorage.getItem('tillkeep.session'))).not.toBe(before)
})

/** Ends the session of the page behind its back, as an administrator or a changed account does. */
async function endSession(page: Page, chain: Chain): Promise<void> {
  const token = await page.evaluate(() => JSON.parse(localStorage.getItem('tillkeep.session')!).accessToken as string)
  const { status } = await fetch(`${chain.hq.url}/api/v1/auth/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(status).toBe(204)
}
const over = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })

test('a session that was ended elsewhere is begun again over the page, with all that was typed', async ({
  page,
  as,
  chain,
  allow,
}) => {
  allow(401)
  await as('admin')
  await page.goto('/hq/stores')
  await menu(page).filter({ hasText: 'Departments' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Departments')
  await settled(page)
  await page.getByRole('button', { name: 'New department' }).click()
  const form = page.getByRole('dialog', { name: 'New department' })
  await form.locator('[name=name]').fill('Kept through the night')
  await form.locator('[name=code]').fill('NIGHT')
  await endSession(page, chain)
  await form.getByRole('button', { name: 'Create department' }).click()

  const cover = over(page)
  await expect(cover.getByLabel('PIN')).toBeFocused()
  await expect(cover.getByLabel('User name')).toHaveValue('admin')
  expect(await violations(page)).toEqual([])
  // Nothing of the page can be seen, read or reached, nor of the dialog over it.
  await expect(page.getByRole('heading', { name: 'Departments' })).toBeHidden()
  await expect(form).toBeHidden()
  const texts = await page.evaluate(() => {
    const selection = getSelection()!
    selection.selectAllChildren(document.body)
    return selection.toString()
  })
  expect(texts).not.toContain('Departments')
  await page.keyboard.press('Escape')
  for (let presses = 0; presses < 8; presses += 1) {
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => Boolean(document.activeElement?.closest('.sign-in-over')))).toBe(true)
  }
  // Nor left by going back.
  await page.goBack()
  await expect(cover).toBeVisible()
  await expect(page).toHaveURL(/\/hq\/departments/)

  await cover.getByLabel('PIN').fill(chain.account('admin').pin)
  await cover.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(cover).toBeHidden()
  // What was pressed before is done.
  await expect(page.getByRole('row', { name: /Kept through the night/ })).toBeVisible()
  await expect(page).toHaveURL(/\/hq\/departments/)
})

test('two tabs whose session ends wait both, and go on both after one sign-in', async ({
  page,
  as,
  chain,
  context,
  allow,
}) => {
  allow(401)
  await as('admin')
  await page.goto('/hq/products/new')
  await settled(page)
  await page.locator('[name=name]').fill('Half a product')
  const other = await context.newPage()
  await other.goto('/hq/stores')
  await settled(other)
  await endSession(other, chain)
  await menu(other).filter({ hasText: 'Users' }).click()
  await expect(over(other)).toBeVisible()
  await expect(over(page)).toBeVisible()
  await signIn(other, chain.account('admin'))
  await expect(over(other)).toBeHidden()
  await expect(over(page)).toBeHidden()
  await expect(page.locator('[name=name]')).toHaveValue('Half a product')
  await expect(other.getByRole('heading', { level: 1 })).toHaveText('Users')
})

test('who signs in over the page of another one sees nothing of it, and may also go to the sign-in page', async ({
  page,
  as,
  chain,
  allow,
}) => {
  // What the former page asks when it is drawn anew is refused to who does not see it.
  allow(401, 403)
  await chain.hire('relief', ['stores.view'])
  await as('admin')
  await page.goto('/hq/users')
  await settled(page)
  await endSession(page, chain)
  await page.getByRole('searchbox').first().fill('manager')
  const cover = over(page)
  await cover.getByLabel('User name', { exact: true }).fill('relief')
  await cover.getByLabel('PIN').fill(chain.account('relief').pin)
  await cover.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page).toHaveURL('/hq/stores')
  await expect(menu(page)).toHaveText(['Stores', 'Reasons', 'Synchronisation', 'Alerts', 'Chain'])

  await endSession(page, chain)
  await menu(page).filter({ hasText: 'Reasons' }).click()
  await cover.getByRole('button', { name: 'Sign in as somebody else' }).click()
  await expect(page).toHaveURL('/login?redirect=/hq/reasons')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in to headquarters')
})

test('the frame stands before headquarters has said anything, and a list has its place held', async ({ page, as }) => {
  await as('admin')
  let answer = () => {}
  let answers = new Promise<void>((resolve) => (answer = resolve))
  await page.route('**/api/**', async (route) => {
    await answers
    await route.continue()
  })
  await page.goto('/hq/stores')
  // Nothing has been answered yet.
  await expect(page.getByText('Loading the page …')).toBeAttached()
  await expect(page.locator('.frame .brand')).toBeVisible()
  answer()
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  answers = new Promise<void>((resolve) => (answer = resolve))
  await menu(page).filter({ hasText: 'Products' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Products')
  await expect(page.getByText('Loading products …')).toBeAttached()
  answer()
  await expect(page.getByRole('row').nth(1)).toBeVisible()
})

test('who goes back to a list is where they were, as soon as its rows are there', async ({ page, as }) => {
  await as('admin')
  await page.setViewportSize({ width: 1280, height: 400 })
  await page.goto('/hq/products')
  const last = page.getByRole('row').last().getByRole('link').first()
  await expect(last).toBeVisible()
  // Where they are when they press: what comes late, and the click itself, may still scroll the list.
  await page.evaluate(() => {
    addEventListener('pointerdown', () => sessionStorage.setItem('pressed at', String(scrollY)), { capture: true })
  })
  await last.scrollIntoViewIfNeeded()
  await last.click()
  await expect(page).toHaveURL(/\/hq\/products\/[^/]+$/)
  await settled(page)
  const before = Number(await page.evaluate(() => sessionStorage.getItem('pressed at')))
  expect(before).toBeGreaterThan(100)
  // Slow enough that the list is short when the page comes back.
  await page.route('**/api/v1/products?*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue()
  })
  await page.goBack()
  await expect(last).toBeVisible()
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(before)
})

test('a message covers nothing that is pressed, above the bar of a long form and on a telephone', async ({
  page,
  as,
  chain,
}) => {
  await as('admin')
  const { id } = await chain.admin.post<{ id: string }>('/stores', { code: 'MSG', name: 'Not yet', timezone: 'UTC' })
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`/hq/stores/${id}`)
    await settled(page)
    await page.locator('[name=name]').fill(`Messages ${width}`)
    await page.getByRole('button', { name: 'Save' }).last().click()
    await expect(page.locator('.toast').first()).toBeVisible()
    const covered = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('main :is(a[href], button, input, select)')]
          .filter((one) => {
            const { x, y, width, height } = one.getBoundingClientRect()
            const [top] = width > 0 ? document.elementsFromPoint(x + width / 2, y + height / 2) : []
            return top?.closest('.toast') && !top.closest('.toast .button')
          })
          .map((one) => one.outerHTML.slice(0, 80)),
      )
    await expect.poll(covered).toEqual([])
  }
})

test.describe('in a browser of another language', () => {
  test.use({ locale: 'de-DE' })

  test('the pages speak it, and English where that is chosen', async ({ page, as }) => {
    await as('admin')
    await page.goto('/hq/products')
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Artikel')
    await expect(page.locator('html')).toHaveAttribute('lang', 'de')
    await page.evaluate(() => localStorage.setItem('tillkeep.language', 'en'))
    await page.reload()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Products')
  })

  test('what is long ago is said in the words of the page', async ({ page, as }) => {
    await page.addInitScript(() => localStorage.setItem('tillkeep.language', 'en'))
    await as('admin')
    await page.goto('/hq/account')
    const times = page.locator('time')
    await expect(times.first()).toBeVisible()
    for (const words of await times.allTextContents()) expect(words).toMatch(/ago|now|yesterday|^in /)
  })
})

test('a PIN that another user made opens nothing but the page that changes it', async ({ page, chain }) => {
  const draft = { username: 'newcomer', displayName: 'New Comer' }
  const { generatedPin: pin } = await chain.admin.post<{ generatedPin: string }>('/users', draft)
  await page.goto('/hq/account')
  await signIn(page, { username: 'newcomer', pin })
  await expect(page.getByRole('heading', { name: 'Choose a PIN of your own' })).toBeVisible()
  await page.goto('/hq/account')
  await expect(page).toHaveURL(/\/change-pin/)
  await page.getByLabel('Current PIN').fill(pin)
  await page.getByLabel('New PIN', { exact: false }).first().fill('482916')
  await page.getByLabel('New PIN again').fill('482916')
  await page.getByRole('button', { name: 'Change PIN' }).click()
  await expect(page).toHaveURL('/hq/account')
})

interface Kept {
  accessToken: string
  expiresAt: number
}
const KEY = 'tillkeep.session'
const kept = (page: Page) => page.evaluate((key) => JSON.parse(localStorage.getItem(key)!) as Kept, KEY)
/** Makes the kept tokens due after so long; the server would still take them. */
const dueIn = (page: Page, ms: number) =>
  page.evaluate(
    ([key, expiresAt]) => {
      const session = JSON.parse(localStorage.getItem(key)!) as object
      localStorage.setItem(key, JSON.stringify({ ...session, expiresAt }))
    },
    // They are replaced a minute ahead.
    [KEY, Date.now() + 60_000 + ms] as const,
  )

test('two tabs of one person with tokens that are due at once both stay signed in', async ({ page, as, context }) => {
  const refreshes: Promise<number>[] = []
  context.on('response', (response) => {
    if (response.url().endsWith('/auth/refresh')) refreshes.push(Promise.resolve(response.status()))
  })
  await as('admin')
  await page.goto('/hq/stores')
  await settled(page)
  const other = await context.newPage()
  await other.goto('/hq/products')
  await settled(other)

  // By the clock, while no user does anything. A third tab makes them due, so that both hear it at the same moment.
  const third = await context.newPage()
  await third.goto('/hq/account')
  await settled(third)
  const before = await kept(third)
  await dueIn(third, 500)
  await expect.poll(async () => (await kept(third)).accessToken).not.toBe(before.accessToken)
  // Whoever comes second takes what the first one got, or, where the storage of the one has not come to the other yet,
  // asks as well and is given the same.
  await third.waitForTimeout(1000)
  expect([1, 2]).toContain(refreshes.length)
  await third.close()
  // By what they ask, both as they begin again.
  const after = await kept(page)
  await dueIn(page, -1000)
  await Promise.all([page.reload(), other.reload()])
  await expect.poll(async () => (await kept(page)).accessToken).not.toBe(after.accessToken)

  for (const [tab, heading, next] of [
    [page, 'Stores', 'Users'],
    [other, 'Products', 'Roles'],
  ] as const) {
    await expect(tab.getByRole('heading', { level: 1 })).toHaveText(heading)
    await menu(tab).filter({ hasText: next }).click()
    await expect(tab.getByRole('heading', { level: 1 })).toHaveText(next)
    await settled(tab)
    await expect(tab.getByRole('alert')).toHaveCount(0)
  }
  expect((await kept(page)).accessToken).toBe((await kept(other)).accessToken)
  expect(new Set(await Promise.all(refreshes))).toEqual(new Set([200]))
})

test('a tab belongs to whoever signs in in another one, and shows nothing of who was there', async ({
  page,
  as,
  chain,
  context,
  allow,
}) => {
  // What the former person's page still asks when the session is gone, or another user's, is refused.
  allow(401, 403)
  const second = chain.sites[1]!
  await chain.hire('successor', [{ codes: ['stores.view'], storeId: second.id }])
  await as('admin')
  await page.goto('/hq/sync')
  const row = (code: string) => page.getByRole('row', { name: new RegExp(`^${code} `) })
  await expect(row('S01')).toBeVisible()
  await expect(menu(page)).toContainText(['Users'])

  const other = await context.newPage()
  await other.goto('/hq/account')
  await other.getByRole('button', { name: 'Sign out', exact: true }).click()
  await expect(other).toHaveURL(/\/login/)
  await expect(page).toHaveURL(/\/login/)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in to headquarters')
  await signIn(other, chain.account('successor'))
  await expect(other.getByRole('button', { name: 'Account of successor' })).toBeVisible()

  const isTheirs = async (path: string) => {
    await expect(page.getByRole('button', { name: 'Account of successor' })).toBeVisible()
    await expect(menu(page)).toHaveText(['Stores', 'Reasons', 'Synchronisation', 'Alerts', 'Chain'])
    await expect(page).toHaveURL(path)
    await expect(row(second.code)).toBeVisible()
    await expect(row('S01')).toHaveCount(0)
    await expect(page.getByText('1 of 1')).toBeVisible()
  }
  await isTheirs('/hq/sync')

  // The same when one takes the other's place with no sign-out between that this tab would notice.
  const session = async (username: string) => {
    const { accessToken, refreshToken, expiresIn } = await chain.tokens(username)
    return JSON.stringify({ accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000, signIn: username })
  }
  const put = async (username: string) =>
    other.evaluate(([key, text]) => localStorage.setItem(key, text), [KEY, await session(username)] as const)
  await put('admin')
  await expect(page.getByRole('button', { name: 'Account of successor' })).toBeHidden()
  await expect(row('S01')).toBeVisible()
  await put('successor')
  // Where they may not stay: at the first page of their own.
  await isTheirs('/hq/stores')
})

test('a page that is loaded while headquarters is away is the page, with the yellow line', async ({
  page,
  as,
  allowOutage,
}) => {
  allowOutage()
  await as('admin')
  await page.goto('/hq/stores')
  await settled(page)
  // The files come from a proxy or the cache of the browser; nothing that is asked is answered.
  const away = /\/(api\/|ready)/
  await page.route(away, (route) => route.abort())
  await page.reload()
  const line = page.getByText('Headquarters does not answer. What you see may be old')
  await expect(line).toBeVisible()
  await expect(page.getByRole('button', { name: /^Account of/ })).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Stores')
  // Nor do the files of a page that was not opened here yet: the one in sight stays, and the other comes by itself.
  await page.route('**/assets/**', (route) => route.abort())
  await menu(page).filter({ hasText: 'Audit log' }).click()
  await expect(line).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Stores')
  await page.unroute('**/assets/**')
  await page.unroute(away)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Audit log')
  await expect(line).toBeHidden()
  await expect(page.getByRole('row').nth(1)).toBeVisible()
})

test('a PIN that is refused is said once, at its field', async ({ page, as, chain, allow }) => {
  allow(422, 401, 400, 409, 403)
  await chain.hire('careless', [])
  const { pin } = chain.account('careless')
  await as('careless')
  await page.goto('/hq/account')
  const problems = page.locator('.bad-text:not([aria-hidden]), [role=alert], .toast')
  const tryTo = async (present: string, wanted: string) => {
    await page.getByLabel('Current PIN').fill(present)
    await page.locator('[name=newPin]').fill(wanted)
    await page.locator('[name=again]').fill(wanted)
    await page.getByRole('button', { name: 'Change PIN' }).click()
  }
  for (const [present, wanted, said] of [
    [pin, '1', /New PIN/],
    [pin, '1234', /New PIN/],
    [WRONG_PIN, '482916', /current PIN is wrong/],
  ] as const) {
    await tryTo(present, wanted)
    await expect(problems).toHaveCount(1)
    await expect(problems).toContainText(said)
  }
})
