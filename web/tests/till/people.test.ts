import { enableAutoUnmount, flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { freeCode, freeTerminal, wrongIn } from '@/till/device/draft'
import SetUpScreen from '@/till/device/SetUpScreen.vue'
import FirstPinScreen from '@/till/people/FirstPinScreen.vue'
import SignInScreen from '@/till/people/SignInScreen.vue'
import { rememberPin, takePin } from '@/till/people/typedPin'
import type { Quote } from '@/till/contract'
import { AT, cart, drawer, fakeTill, line, person, refusal, register, setUp } from './fakeTill'

vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))
enableAutoUnmount(afterEach)
afterEach(() => takePin())

async function type(wrapper: VueWrapper, pin: string): Promise<void> {
  for (const digit of pin) await wrapper.get(`[data-digit="${digit}"]`).trigger('click')
  await wrapper.get('[data-digit=enter]').trigger('click')
  await flushPromises()
}

describe('the PIN pad', () => {
  it('says where one signs in, and takes the PIN by touch alone', async () => {
    const till = fakeTill({ phase: 'signedOut', person: null })
    const wrapper = mount(SignInScreen)
    expect(wrapper.text()).toContain('Corner Shop')
    expect(wrapper.text()).toContain('Back till · register 02')
    await wrapper.get('[data-digit="4"]').trigger('click')
    expect(wrapper.findAll('.dot')).toHaveLength(1)
    expect(wrapper.text()).not.toContain('PIN4')
    await type(wrapper, '821')
    expect(till.signIn).toHaveBeenCalledExactlyOnceWith('4821')
  })

  it('says that a PIN was wrong, forgets it, and takes another', async () => {
    const till = fakeTill({ phase: 'signedOut', person: null })
    till.signIn.mockRejectedValueOnce(refusal('invalid_credentials', { title: 'Wrong PIN', text: 'Type it again.' }))
    const wrapper = mount(SignInScreen)
    await type(wrapper, '1111')
    expect(wrapper.get('[role=alert]').text()).toContain('Wrong PIN')
    expect(wrapper.findAll('.dot')).toHaveLength(0)
    expect(takePin()).toBeNull()
    await type(wrapper, '4821')
    expect(till.signIn).toHaveBeenLastCalledWith('4821')
  })

  it('sends nothing without a digit, and nothing twice', async () => {
    const till = fakeTill({ phase: 'signedOut', person: null })
    till.signIn.mockReturnValue(new Promise(() => {}))
    const wrapper = mount(SignInScreen)
    await wrapper.get('[data-digit=enter]').trigger('click')
    expect(till.signIn).not.toHaveBeenCalled()
    await type(wrapper, '4821')
    await type(wrapper, '4821')
    expect(till.signIn).toHaveBeenCalledOnce()
  })

  it('says that a cart waits, with what it comes to', async () => {
    const till = fakeTill({ phase: 'signedOut', person: null, cart: cart({ lines: [line(), line({ amount: 250 })] }) })
    const wrapper = mount(SignInScreen)
    expect(wrapper.get('[data-test=cart-waits]').text()).toBe('A cart of 2 lines waits: €7.50.')
    till.state.quote = { totalAmount: 700, lines: [] } as unknown as Quote
    till.state.price = 'confirmed'
    await flushPromises()
    expect(wrapper.get('[data-test=cart-waits]').text()).toContain('€7.00')
    ;[till.state.quote, till.state.price] = [null, 'local']
    till.state.cart.lines = [line({ amount: null })]
    await flushPromises()
    expect(wrapper.get('[data-test=cart-waits]').text()).toBe('A cart of one line waits.')
    till.state.cart.lines = []
    await flushPromises()
    expect(wrapper.find('[data-test=cart-waits]').exists()).toBe(false)
  })

  it('keeps a PIN for nobody who need not change it', async () => {
    const till = fakeTill({ phase: 'signedOut', person: null })
    till.signIn.mockImplementation(async () => void (till.state.person = person()))
    await type(mount(SignInScreen), '4821')
    expect(takePin()).toBeNull()
  })
})

describe('the first PIN', () => {
  it('is typed twice, and the old one not again', async () => {
    rememberPin('1234')
    const till = fakeTill({ phase: 'firstPin', person: person({ mustChangePin: true }) })
    const wrapper = mount(FirstPinScreen)
    await type(wrapper, '4821')
    expect(till.choosePin).not.toHaveBeenCalled()
    await type(wrapper, '4821')
    expect(till.choosePin).toHaveBeenCalledExactlyOnceWith('1234', '4821')
    expect(takePin()).toBeNull()
  })

  it('is not sent when the two differ', async () => {
    rememberPin('1234')
    const till = fakeTill({ phase: 'firstPin' })
    const wrapper = mount(FirstPinScreen)
    await type(wrapper, '4821')
    await type(wrapper, '4812')
    expect(till.choosePin).not.toHaveBeenCalled()
    expect(wrapper.get('[role=alert]').text()).toContain('not the same')
  })

  it('asks for the old one where the page was loaded anew, and again when it was wrong', async () => {
    const till = fakeTill({ phase: 'firstPin' })
    till.choosePin.mockRejectedValueOnce(refusal('invalid_credentials'))
    const wrapper = mount(FirstPinScreen)
    expect(wrapper.text()).toContain('The PIN that you have')
    for (const pin of ['9999', '4821', '4821']) await type(wrapper, pin)
    expect(wrapper.text()).toContain('The PIN that you have')
    for (const pin of ['1234', '4821', '4821']) await type(wrapper, pin)
    expect(till.choosePin).toHaveBeenLastCalledWith('1234', '4821')
  })

  it('says in the words of the store why a PIN is not allowed', async () => {
    rememberPin('1234')
    const till = fakeTill({ phase: 'firstPin' })
    till.choosePin.mockRejectedValueOnce(refusal('pin_not_allowed', { text: 'must not be a date' }))
    const wrapper = mount(FirstPinScreen)
    await type(wrapper, '0101')
    await type(wrapper, '0101')
    expect(wrapper.get('[role=alert]').text()).toContain('must not be a date')
    expect(wrapper.text()).toContain('Your new PIN')
  })
})

describe('a register that is made', () => {
  it('is proposed the next code and terminal that are free', () => {
    const there = [register('01'), register('02', { terminalId: 't3' })]
    expect(freeCode(there)).toBe('03')
    expect(freeTerminal('03', there)).toBe('T4')
    expect(freeCode(Array.from({ length: 99 }, (_, at) => register(String(at + 1).padStart(2, '0'))))).toBe('')
  })

  it('has two digits and names that no other has', () => {
    const draft = { code: '3', name: ' ', terminalId: 't1', deviceName: 'x' }
    expect(wrongIn(draft, [register('01')])).toEqual({ code: 'twoDigits', name: 'needed', terminalId: 'terminalTaken' })
    expect(wrongIn({ ...draft, code: '01' }, [register('01')]).code).toBe('codeTaken')
  })
})

describe('the set-up', () => {
  async function signedIn(session = setUp(), state: Parameters<typeof fakeTill>[0] = {}) {
    const till = fakeTill({ phase: 'setup', place: null, person: null, ...state })
    till.setUp.mockResolvedValue(session)
    const wrapper = mount(SetUpScreen, { attachTo: document.body })
    await wrapper.get('[name=username]').setValue('ada')
    await wrapper.get('[name=pin]').setValue('482159')
    await wrapper.get('form').trigger('submit')
    await flushPromises()
    return { till, wrapper, session }
  }

  it('makes this device a register that is there, and says whose it was', async () => {
    const session = setUp(
      [register('01'), register('02', { openSession: drawer() })],
      [
        { id: 'd', registerId: 'register-02', name: 'Old tablet', enrolledBy: 'u', createdAt: AT },
        { id: 'e', registerId: 'register-01', name: 'Lost', enrolledBy: 'u', createdAt: AT, revokedAt: AT },
      ],
    )
    const { till, wrapper } = await signedIn(session)
    expect(till.setUp).toHaveBeenCalledWith('ada', '482159')
    expect(wrapper.text()).toContain('Old tablet')
    expect(wrapper.text()).not.toContain('Lost')
    expect(wrapper.text()).toContain('Drawer 5 is open')
    await wrapper.get('[data-register="02"]').setValue()
    expect(wrapper.text()).toContain('Another device is this till')
    await wrapper.get('[name=deviceName]').setValue('New tablet')
    await wrapper.get('form').trigger('submit')
    await flushPromises()
    expect(session.choose).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: '02' }), 'New tablet')
    wrapper.unmount()
    expect(session.end).not.toHaveBeenCalled()
  })

  it('makes a new register as it is proposed', async () => {
    const { wrapper, session } = await signedIn(setUp([register('01')]))
    await wrapper.get('[data-register=new]').setValue()
    await wrapper.get('form').trigger('submit')
    await flushPromises()
    const draft = { code: '02', name: 'Till 02', terminalId: 'T2', deviceName: 'Till 02' }
    expect(session.make).toHaveBeenCalledExactlyOnceWith(draft)
  })

  it('says at the field what is wrong, and what the store refused', async () => {
    const { wrapper, session } = await signedIn(setUp([register('01')]))
    await wrapper.get('[data-register=new]').setValue()
    await wrapper.get('[name=code]').setValue('01')
    await wrapper.get('form').trigger('submit')
    expect(wrapper.get('[role=alert]').text()).toContain('Another register has this code')
    expect(session.make).not.toHaveBeenCalled()
    await wrapper.get('[name=code]').setValue('05')
    session.make.mockRejectedValueOnce(refusal('duplicate', { field: 'name', text: 'is taken' }))
    await wrapper.get('form').trigger('submit')
    await flushPromises()
    expect(wrapper.findAll('[role=alert]').some((one) => one.text() === 'is taken')).toBe(true)
  })

  it('reads the registers again when they did not come', async () => {
    const session = setUp([register('01')])
    session.registers.mockRejectedValueOnce(refusal('server_away'))
    const { wrapper } = await signedIn(session)
    expect(wrapper.get('[role=alert]').text()).toContain('words of server_away')
    expect(wrapper.find('[data-register]').exists()).toBe(false)
    await wrapper.get('[role=alert] button').trigger('click')
    await flushPromises()
    expect(wrapper.find('[data-register="01"]').exists()).toBe(true)
  })

  it('forgets the session of the manager when nothing was chosen', async () => {
    const { wrapper, session } = await signedIn()
    wrapper.unmount()
    expect(session.end).toHaveBeenCalledOnce()
  })

  it('says why it is needed again, and what the browser lacks with its remedy', async () => {
    fakeTill({ phase: 'setup', setupReason: 'evicted', missing: ['secureContext', 'serviceWorker', 'camera', 'locks'] })
    const wrapper = mount(SetUpScreen)
    expect(wrapper.get('[data-reason=evicted]').text()).toContain('No sale is lost')
    expect(wrapper.findAll('[data-missing]').map((one) => one.attributes('data-missing'))).toEqual(['secureContext'])
    expect(wrapper.get('[data-missing=secureContext]').text()).toContain('tillkeep store certificate')
    fakeTill({ phase: 'setup', setupReason: 'revoked', missing: ['indexedDb', 'camera'] })
    const other = mount(SetUpScreen)
    expect(other.get('[data-reason=revoked]').text()).toContain('took this till back')
    expect(other.findAll('[data-missing]')).toHaveLength(2)
    expect(other.get('[data-test=setup-sign-in]').attributes('disabled')).toBeDefined()
  })
})
