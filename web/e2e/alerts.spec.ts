import { violations } from './kit/axe'
import { isSigned, Receiver } from './kit/receiver'
import { expect, said, test as base } from './kit/test'

const test = base.extend<{ receiver: Receiver }>({
  receiver: async ({}, use) => {
    const receiver = await Receiver.start()
    await use(receiver)
    await receiver.stop()
  },
})

test('a receiver is added, gets a test that is signed with its secret, and is removed', async ({
  page,
  as,
  chain,
  receiver,
}) => {
  await as('admin')
  const { host } = receiver
  const url = `http://${host}/alerts`
  // What shops sold just now may come as well.
  const tests = () =>
    receiver.posts.filter(({ body }) => (JSON.parse(body.toString()) as { kind: string }).kind === 'test')
  const kept = async () =>
    (await chain.admin.get<{ url: string; what: string }[]>('/alert-hooks')).filter((hook) => hook.url === url)
  await page.goto('/hq/alerts')
  await page.getByRole('button', { name: 'New address' }).click()
  const adding = page.getByRole('dialog', { name: 'New address' })
  await adding.getByRole('radio', { name: /^Sales/ }).check()
  await adding.locator('[name=url]').fill(url)
  await adding.getByRole('button', { name: 'Add', exact: true }).click()

  const showing = page.getByRole('dialog', { name: `Secret of ${host}` })
  await expect(showing).toBeVisible()
  expect(await violations(page)).toEqual([])
  const secret = (await showing.locator('code').innerText()).trim()
  expect(secret).not.toBe('')
  await showing.getByRole('button', { name: 'I have kept it' }).click()
  await expect(showing).toBeHidden()
  await expect(page.getByText(secret)).toHaveCount(0)
  expect(await kept()).toMatchObject([{ what: 'sales' }])

  const row = page.getByRole('table', { name: 'Who is told' }).getByRole('row', { name: new RegExp(host) })
  // Nothing has come yet, or such a sale.
  await expect(row).toContainText(/none yet|204, taken/)
  await row.getByRole('button', { name: `Try ${host}` }).click()
  await expect(said(page, `${host} has taken the test: 204.`)).toBeVisible()
  await expect(row).toContainText('204, taken')
  expect(tests()).toHaveLength(1)
  const [first] = tests()
  expect(isSigned(first!, secret)).toBe(true)
  expect(isSigned(first!, `${secret}x`)).toBe(false)
  expect(JSON.parse(first!.body.toString())).toMatchObject({ event: first!.event })

  // What it answers when it is broken stands there too.
  receiver.status = 500
  await row.getByRole('button', { name: `Try ${host}` }).click()
  await expect(said(page, `${host} has not taken the test: 500`)).toBeVisible()
  await expect(row).toContainText('500, not taken')
  expect(tests()).toHaveLength(2)

  await row.getByRole('button', { name: `Remove ${host}` }).click()
  const asking = page.getByRole('dialog', { name: `Remove ${host}?` })
  await asking.getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(said(page, `${host} is removed.`)).toBeVisible()
  await expect(row).toHaveCount(0)
  expect(await kept()).toEqual([])
})
