import { Client, type Chain, type Site } from './chain'

/** What happens at a till of a store, as an administrator there. */

type Row = Record<string, string>

interface Article {
  id: string
  sku: string
  isWeighed: boolean
  isOpenPrice: boolean
  ageRestriction: number | null
}

/** Something that is sold by the piece, without a question. */
export async function article(chain: Chain): Promise<Article> {
  const articles = await chain.admin.get<Article[]>('/products?pageSize=50&active=true&sort=sku')
  return articles.find((one) => !one.isWeighed && !one.isOpenPrice && one.ageRestriction === null)!
}

/** A sale for cash, and a close that is a dollar short, which headquarters has; then a ZZ. */
export async function shortDay(chain: Chain, site: Site, code: string): Promise<{ sale: string; drawer: string }> {
  const admin = await Client.signIn(site.server.url, chain.account('admin'))
  const terminalId = `SHORT-${code}`
  const register = await admin.post<Row>('/registers', { code, name: 'Short', terminalId })
  const drawer = await admin.post<Row>(`/registers/${register.id}/open`, { openingFloat: 10_000 })
  const tenders = await admin.get<{ id: string; kind: string; countsInClose: boolean }[]>('/tenders')
  const cash = tenders.find(({ kind }) => kind === 'cash')!
  const lines = [{ productId: (await article(chain)).id, quantity: 1 }]
  const cart = { id: crypto.randomUUID(), terminalId, lines, payments: [{ tenderId: cash.id }] }
  const sale = await admin.post<{ id: string; totalAmount: number }>('/pos/sales', cart)
  const counts = tenders
    .filter(({ id, countsInClose }) => countsInClose || id === cash.id)
    .map(({ id }) => ({ tenderId: id, amount: id === cash.id ? 10_000 + sale.totalAmount - 100 : 0 }))
  const note = 'A dollar is missing'
  await admin.post(`/register-sessions/${drawer.id}/close`, { counts, note, acceptVariance: true })
  await admin.post('/reports/zz', { id: crypto.randomUUID(), registerId: register.id })
  for (;;) {
    if ((await chain.admin.get<Row[]>(`/reports/zz?registerCode=${code}`)).length > 0) break
    await new Promise((wait) => setTimeout(wait, 200))
  }
  return { sale: sale.id, drawer: drawer.id! }
}
