import { Client, type Site } from '../e2e/kit/chain'
import type { Person } from './person'

type Row = Record<string, string>

export const TERMINAL = 'T1'

/** A cashier at the till of a store; its keys are pressed by a person, and the till itself is requests. */
export class Cashier {
  private till: Client

  constructor(
    private readonly person: Person,
    private readonly site: Site,
  ) {
    this.till = new Client(site.server.url)
  }

  /** The PIN and Enter. */
  async signIn(pin: string): Promise<void> {
    const body = { pin, storeId: this.site.id, terminalId: TERMINAL }
    const ask = () => new Client(this.site.server.url).post<Row>('/auth/pin-login', body)
    const { accessToken } = await this.person.atTill(pin.length + 1, ask)
    this.till = new Client(this.site.server.url, accessToken)
  }

  /** The old one, and the new one twice, each with Enter. */
  async changePin(currentPin: string, newPin: string): Promise<void> {
    const ask = () => this.till.call('POST', '/auth/change-pin', { currentPin, newPin })
    await this.person.atTill(currentPin.length + 2 * newPin.length + 3, ask)
  }

  /** One key: the float is the usual one. */
  async open(): Promise<void> {
    const { register } = await this.till.get<{ register: Row }>(`/pos/bootstrap?terminalId=${TERMINAL}`)
    await this.person.atTill(1, () => this.till.post(`/registers/${register.id}/open`))
  }

  /** An article that is scanned, the key for cash and the note that was given; the number of the receipt. */
  async sell(code: string): Promise<string> {
    const { tenders } = await this.till.get<{ tenders: Row[] }>(`/pos/bootstrap?terminalId=${TERMINAL}`)
    const { product } = await this.till.get<{ product: Row }>(`/pos/lookup/${code}`)
    const payments = [{ tenderId: tenders.find(({ kind }) => kind === 'cash')!.id, tenderedAmount: 100_000 }]
    const sale = { id: crypto.randomUUID(), lines: [{ productId: product.id, quantity: 1 }], payments }
    const { receiptNumber } = await this.person.atTill(2, () => this.till.post<Row>('/pos/sales', sale))
    return receiptNumber!
  }
}
