import type { Locator, Page } from '@playwright/test'
import type { Account } from './chain'
import {
  approve,
  at,
  expect,
  label,
  lines,
  onPhase,
  phase,
  press,
  scan,
  taken,
  typed,
  type Good,
  type Shop,
} from './shop'

/** Whoever works at a till: by keyboard and scanner alone, or by touch alone. What both do is said once. */

export type Item =
  | { kind: 'piece'; good: Good; times?: number }
  | { kind: 'code'; code: string }
  | { kind: 'label'; good: Good; grams: number }
  | { kind: 'weighed'; good: Good; weight: string }
  | { kind: 'age'; good: Good }
  | { kind: 'open'; good: Good; name: string; price: number }

/** `note`: more cash than is due. `split`: five in cash, the rest by card. */
export type Way = 'cash' | 'note' | 'card' | 'check' | 'account' | 'split'

/** Places among the tenders of the demo, as the arrows go through them. */
const DOWNS: Readonly<Record<string, number>> = { CARD: 1, CHECK: 2, ACCT: 3 }
const MOST_TABS = 120

export const decimals = (minor: number): string => (minor / 100).toFixed(2)

export abstract class Hands {
  constructor(
    readonly page: Page,
    readonly shop: Shop,
  ) {}

  /** A button, wherever it is on the screen. */
  abstract push(name: string | Locator): Promise<void>
  /** What has a key of its own. */
  abstract deed(key: string, name: string): Promise<void>
  /** Words into a field: a tablet shows its own letters for them. */
  abstract write(name: string, text: string): Promise<void>
  /** Money into a field. */
  abstract amount(field: Locator, minor: number): Promise<void>
  /** One of several. */
  abstract choose(radio: Locator): Promise<void>
  abstract pin(account: Account): Promise<void>
  abstract allow(manager: Account): Promise<void>
  abstract find(receipt: string): Promise<void>
  /** The goods, up to what they ask for. */
  protected abstract bring(item: Item): Promise<void>
  protected abstract tender(code: string): Promise<void>
  /** More cash than is due. */
  protected abstract tooMuch(): Promise<void>
  /** Takes all that is left, by the chosen tender. */
  protected abstract exact(): Promise<void>
  protected abstract old(): Promise<void>

  named = (name: string | Locator): Locator => (typeof name === 'string' ? at(this.page, name).first() : name)

  async signIn(account: Account): Promise<void> {
    await onPhase(this.page, 'signedOut')
    await this.pin(account)
    await expect(phase(this.page, 'signedOut')).toBeHidden()
  }

  async lock(): Promise<void> {
    await this.deed('F10', 'lock')
    await onPhase(this.page, 'signedOut')
  }

  async take(item: Item): Promise<void> {
    const before = await lines(this.page).count()
    await this.bring(item)
    if (item.kind === 'age') await this.old()
    if (item.kind === 'weighed') await this.write('weight', item.weight)
    if (item.kind === 'open') {
      await this.write('line-name', item.name)
      await this.amount(at(this.page, 'open-price'), item.price)
    }
    if (item.kind === 'weighed' || item.kind === 'open') await this.push('ask-take')
    await expect(lines(this.page), `a line for ${JSON.stringify(item)}`).toHaveCount(before + 1)
  }

  async discount(percent: number): Promise<void> {
    await this.deed('F4', 'discount')
    await this.write('percent', String(percent))
    await this.reason()
    await this.push('discount-apply')
    await expect(at(this.page, 'panel-discount')).toHaveCount(0)
  }

  /** The first one that there is. */
  async reason(): Promise<void> {
    await this.choose(this.page.locator('[data-reason]').first())
  }

  async customer(number: string): Promise<void> {
    await this.deed('F3', 'customer')
    await this.write('customer-search', number)
    await expect(at(this.page, 'customer-pick')).toHaveCount(1)
    await this.push('customer-pick')
    await expect(at(this.page, 'cart-customer')).toBeVisible()
  }

  /** Pays the cart; whatever it needs somebody for is allowed by the manager. */
  async pay(way: Way): Promise<{ id: string; receipt: string; approvals: number }> {
    const { page } = this
    if (way === 'account') await this.customer('HQ-000006')
    await this.deed('F12', 'pay')
    await expect(at(page, 'pay-exact')).toBeVisible()
    await expect(at(page, 'pay-due')).toHaveAttribute('data-amount', /\d/)
    if (way === 'split') {
      await this.amount(at(page, 'amount'), 500)
      await this.push('pay-take')
      await expect(at(page, 'entered').getByRole('listitem')).toHaveCount(1)
    }
    if (way === 'card' || way === 'split') await this.tender('CARD')
    if (way === 'account') await this.tender('ACCT')
    if (way === 'check') {
      await this.tender('CHECK')
      await this.write('reference', 'CQ 4711')
    }
    if (way === 'note') await this.tooMuch()
    else await this.exact()
    return this.settled()
  }

  /** Waits for the sale; allows what is asked for on the way. */
  async settled(): Promise<{ id: string; receipt: string; approvals: number }> {
    const box = at(this.page, 'approval')
    for (let approvals = 0; approvals < 6; approvals += 1) {
      await expect(at(this.page, 'taken').or(box).first(), 'taken, or an approval is asked for').toBeVisible()
      if (!(await box.isVisible())) return { ...(await taken(this.page)), approvals }
      await this.allow(this.shop.manager)
    }
    throw new Error('a sixth approval is asked for by one sale')
  }

  async next(): Promise<void> {
    await expect(at(this.page, 'next')).toBeEnabled()
    await this.push('next')
    await expect(at(this.page, 'taken')).toHaveCount(0)
  }
}

/** Keys as a person presses them, and a scanner. */
export class Keys extends Hands {
  /** With Tab, as whoever has no mouse; from there Enter or Space. */
  async go(target: Locator): Promise<void> {
    await expect(target).toBeVisible()
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      if (await target.evaluate((element) => element === document.activeElement)) return
      await this.page.keyboard.press('Tab')
    }
    throw new Error(`${String(target)} is not reached with ${MOST_TABS} times Tab`)
  }
  async push(name: string | Locator) {
    const target = this.named(name)
    await expect(target).toBeEnabled()
    await this.go(target)
    await press(this.page, 'Enter')
  }
  async deed(key: string) {
    await press(this.page, key)
  }
  /** Its key is on the button, and good wherever the focus is. */
  override async next() {
    await expect(at(this.page, 'next')).toBeEnabled()
    await press(this.page, 'Enter')
    await expect(at(this.page, 'taken')).toHaveCount(0)
  }
  async write(name: string, text: string) {
    await this.go(this.named(name))
    await typed(this.page, text)
  }
  async amount(field: Locator, minor: number) {
    await this.go(field)
    await typed(this.page, decimals(minor))
  }
  async choose(radio: Locator) {
    await this.go(radio)
    await press(this.page, 'Space')
    await expect(radio).toBeChecked()
  }
  async pin({ pin }: Account) {
    await typed(this.page, pin)
    await press(this.page, 'Enter')
  }
  async allow(manager: Account) {
    await approve(this.page, manager)
  }
  /** Its receipt has its number as a barcode. */
  async find(receipt: string) {
    await scan(this.page, receipt)
    await expect(at(this.page, 'panel-sale')).toContainText(receipt)
  }
  protected async bring(item: Item) {
    if (item.kind === 'piece' && item.times) await typed(this.page, `${item.times}*`)
    if (item.kind === 'label') await scan(this.page, label(item.good, item.grams))
    else await scan(this.page, item.kind === 'code' ? item.code : item.good.barcode)
  }
  protected async tender(code: string) {
    await expect(at(this.page, 'amount')).toBeFocused()
    for (let down = 0; down < (DOWNS[code] ?? 0); down += 1) await press(this.page, 'ArrowDown')
    await expect(at(this.page, `tender-${code}`)).toHaveAttribute('aria-pressed', 'true')
  }
  protected async tooMuch() {
    await typed(this.page, '500')
    await expect(at(this.page, 'pay-take')).toBeEnabled()
    await press(this.page, 'Enter')
  }
  protected async exact() {
    await expect(at(this.page, 'pay-exact')).toBeEnabled()
    await press(this.page, 'Enter')
  }
  protected async old() {
    await expect(at(this.page, 'ask')).toHaveAttribute('data-kind', 'age')
    await press(this.page, 'y')
  }
}

/** Fingers on the screen. Words alone come from the letters that the tablet itself shows. */
export class Fingers extends Hands {
  async push(name: string | Locator) {
    await this.named(name).tap()
  }
  async deed(_key: string, name: string) {
    await this.push(name)
  }
  async write(name: string, text: string) {
    const field = this.named(name)
    await field.tap()
    await field.fill(text)
  }
  async amount(field: Locator, minor: number) {
    const part = this.page.locator('.amount', { has: field })
    await field.tap()
    // Where a field has no keys of its own below it, the tablet shows its digits.
    if ((await part.locator('[data-digit]').count()) === 0) return field.fill(decimals(minor))
    await this.digits(part, decimals(minor))
  }
  async digits(pad: Locator, text: string): Promise<void> {
    for (const sign of text) await pad.locator(`[data-digit="${sign === '.' ? 'mark' : sign}"]`).tap()
  }
  async choose(radio: Locator) {
    await radio.locator('xpath=ancestor::label').tap()
    await expect(radio).toBeChecked()
  }
  async pin({ pin }: Account) {
    await this.digits(at(this.page, 'pin-pad'), pin)
    await at(this.page, 'pin-pad').locator('[data-digit="enter"]').tap()
  }
  async allow({ pin }: Account) {
    const box = at(this.page, 'approval')
    const words = at(box, 'approval-reason')
    if ((await words.count()) > 0) await this.write('approval-reason', 'as agreed')
    await at(box, 'approval-pin').tap()
    await this.digits(box, pin)
    await this.push('approval-give')
    await expect(box).toBeHidden()
  }
  async find(receipt: string) {
    await this.push('find')
    await this.write('find-receipt', receipt)
    await this.push('find-go')
    await expect(at(this.page, 'panel-sale')).toContainText(receipt)
  }
  protected async bring(item: Item) {
    const { page } = this
    if (item.kind === 'label' || item.kind === 'code') {
      const code = item.kind === 'label' ? label(item.good, item.grams) : item.code
      const field = page.locator('.code')
      if ((await field.locator('[data-digit]').count()) === 0) await this.push('key-pad')
      await this.digits(field, code)
      return field.locator('[data-digit="enter"]').tap()
    }
    const [department] = item.good.sku.split('-')
    await this.push(`department-${department}`)
    const tile = page.locator(`[data-test="tile"][data-product="${item.good.id}"]`)
    await tile.tap()
    if (item.kind !== 'piece' || !item.times) return
    await expect(lines(page).last()).toHaveAttribute('data-quantity', '1')
    for (let more = 1; more < item.times; more += 1) {
      if ((await at(page, 'line-more').count()) === 0) await lines(page).last().locator('button').first().tap()
      await at(page, 'line-more').tap()
      await expect(lines(page).last()).toHaveAttribute('data-quantity', String(more + 1))
    }
  }
  protected async tender(code: string) {
    await this.push(`tender-${code}`)
    await expect(at(this.page, `tender-${code}`)).toHaveAttribute('aria-pressed', 'true')
  }
  protected async tooMuch() {
    await this.push(this.page.locator('[data-test^="note-"]').last())
  }
  protected async exact() {
    await this.push('pay-exact')
  }
  protected async old() {
    await this.push('age-yes')
  }
}
