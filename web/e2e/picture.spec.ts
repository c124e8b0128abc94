import type { Page } from '@playwright/test'
import { violations } from './kit/axe'
import { expect, said, test } from './kit/test'

interface Product {
  id: string
  name: string
  sku: string
  pictureHash: string | null
}

/** A PNG file of one colour. */
async function png(page: Page, colour: string, width = 640, height = 320): Promise<Buffer> {
  const url = await page.evaluate(
    ([fill, w, h]) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: w, height: h })
      const context = canvas.getContext('2d')!
      context.fillStyle = fill
      context.fillRect(0, 0, w, h)
      return canvas.toDataURL('image/png')
    },
    [colour, width, height] as const,
  )
  return Buffer.from(url.split(',')[1]!, 'base64')
}

/** Red, green and blue in the middle of what is shown, and at its upper edge. */
const colours = (page: Page, label: string) =>
  page.getByRole('img', { name: label }).evaluate((shown: HTMLCanvasElement) => {
    const context = shown.getContext('2d')!
    const at = (y: number) => [...context.getImageData(shown.width / 2, y, 1, 1).data.slice(0, 3)]
    return { middle: at(shown.height / 2), edge: at(4) }
  })
const WHITE = [255, 255, 255]

test('a product gets a picture, another one and none, and the list shows it', async ({ page, as, chain }) => {
  await as('admin')
  const [first] = await chain.admin.get<Product[]>('/products?pageSize=1&sort=sku')
  const known = () => chain.admin.get<Product>(`/products/${first!.id}`)
  const label = `Picture of ${first!.name}`
  const dialog = page.getByRole('dialog', { name: label })
  await page.goto(`/hq/products/${first!.id}`)
  await expect(page.getByText('There is no picture yet.')).toBeVisible()
  // What is typed meanwhile stays.
  await page.getByLabel('Brand').fill('Typed before')

  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a picture' }).click()
  await (await choosing).setFiles({ name: 'tea.png', mimeType: 'image/png', buffer: await png(page, '#c81e1e') })
  await expect(dialog).toBeVisible()
  // As it will look: the whole of it, on white.
  await expect.poll(() => colours(page, 'How it will look')).toEqual({ middle: [200, 30, 30], edge: WHITE })
  expect(await violations(page)).toEqual([])
  expect((await known()).pictureHash).toBeNull()
  await dialog.getByRole('button', { name: 'Use this picture' }).click()
  await expect(said(page, 'The picture is saved.')).toBeVisible()
  await expect(dialog).toBeHidden()
  const { middle, edge } = await colours(page, label)
  expect(middle[0]).toBeGreaterThan(180)
  expect(middle[1]).toBeLessThan(60)
  expect(Math.min(...edge)).toBeGreaterThan(240)
  const red = (await known()).pictureHash
  expect(red).not.toBeNull()
  await expect(page.getByLabel('Brand')).toHaveValue('Typed before')

  // Another one, dropped onto the card.
  const content = [...(await png(page, '#1e1ec8'))]
  const transfer = await page.evaluateHandle((bytes) => {
    const data = new DataTransfer()
    data.items.add(new File([new Uint8Array(bytes)], 'blue.png', { type: 'image/png' }))
    return data
  }, content)
  await page.getByRole('region', { name: 'Picture' }).dispatchEvent('drop', { dataTransfer: transfer })
  await dialog.getByRole('button', { name: 'Use this picture' }).click()
  await expect(dialog).toBeHidden()
  await expect.poll(async () => (await known()).pictureHash).not.toBe(red)
  await expect.poll(async () => (await colours(page, label)).middle[2]).toBeGreaterThan(180)
  // The row that the form knows is the newest one: nothing is in the way of what was typed.
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(said(page, /^Saved/)).toBeVisible()
  expect(await known()).toMatchObject({ brand: 'Typed before' })

  // Small, beside its name.
  await page.goto(`/hq/products?search=${first!.sku}`)
  const row = page.getByRole('row', { name: first!.name })
  await expect(row.locator('canvas')).toBeVisible()

  await row.getByRole('link').click()
  await page.getByRole('button', { name: 'Remove picture' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove picture' }).click()
  await expect(said(page, 'The picture is removed.')).toBeVisible()
  await expect(page.getByText('There is no picture yet.')).toBeVisible()
  expect((await known()).pictureHash).toBeNull()
})

test('a file that is no small picture is refused with what to do, and nothing is sent', async ({
  page,
  as,
  chain,
  allow,
}) => {
  allow(422)
  await as('admin')
  const [first] = await chain.admin.get<Product[]>('/products?pageSize=1&sort=-sku')
  await page.goto(`/hq/products/${first!.id}`)
  const changes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && changes.push(request.url()))
  const choose = (name: string, mimeType: string, buffer: Buffer) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer })
  const alert = page.getByRole('dialog').getByRole('alert')
  await page.getByRole('button', { name: 'Choose a picture' }).waitFor()
  await choose('photo.jpg', 'image/jpeg', Buffer.alloc((2 << 20) + 1))
  await expect(alert).toContainText('photo.jpg has 2.1 MiB, and at most 2 are taken. Save it smaller first')
  expect(await violations(page)).toEqual([])
  // A better file takes its place in the same dialog.
  await choose('drawing.svg', 'image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))
  await expect(alert).toContainText('drawing.svg is no JPEG, PNG or WebP file')
  await choose('torn.png', 'image/png', (await png(page, '#123456')).subarray(0, 60))
  await expect(alert).toContainText('torn.png cannot be read as a picture')
  await expect(page.getByRole('button', { name: 'Use this picture' })).toHaveAttribute('aria-disabled', 'true')
  expect(changes).toEqual([])
  await choose('wide.png', 'image/png', await png(page, '#123456', 10_001, 4))
  await page.getByRole('button', { name: 'Use this picture' }).click()
  await expect(alert).toContainText('The picture has more than 40 million pixels')
  expect(changes).toHaveLength(1)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('who may see products and not change them sees a picture alone', async ({ page, as, chain }) => {
  const [first] = await chain.admin.get<Product[]>('/products?pageSize=1&sort=sku')
  await chain.hire('looker', ['products.view'])
  await as('looker')
  await page.goto(`/hq/products/${first!.id}`)
  await expect(page.getByRole('region', { name: 'Picture' })).toBeVisible()
  await expect(page.locator('input[type=file]')).toHaveCount(0)
  await expect(page.getByRole('button', { name: /picture/ })).toHaveCount(0)
})
