// @vitest-environment node
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crashes, STEPS, VICTIMS } from '../../e2e/kit/crashes'
import { Gate } from '../../e2e/kit/gate'

/** The tools of the crash tests: what they hold must be where they say. */

let store: Server
let gate: Gate
let seen: string[] = []

beforeEach(async () => {
  seen = []
  store = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url}`)
    answer.writeHead(201, { 'content-type': 'application/json', 'x-of': 'store' }).end('{"data":1}')
  })
  await new Promise<void>((done) => store.listen(0, '127.0.0.1', done))
  gate = await Gate.start(`http://127.0.0.1:${(store.address() as AddressInfo).port}`)
})
afterEach(async () => {
  await gate.stop()
  store.closeAllConnections()
  await new Promise((done) => store.close(done))
})

const isPost = ({ method }: { method: string }) => method === 'POST'
const send = (path = '/a') => fetch(`${gate.url}${path}`, { method: 'POST', body: 'x' })

test('what is not held goes through as it is', async () => {
  const answer = await send('/b?c=1')
  expect([answer.status, answer.headers.get('x-of'), await answer.text()]).toEqual([201, 'store', '{"data":1}'])
  expect(seen).toEqual(['POST /b?c=1'])
})

test('a request that is held has not come to the store, and one that is cut never does', async () => {
  const coming = gate.next('request', isPost, 'the payment')
  const sent = send().catch(() => 'lost')
  const held = await coming
  expect(seen).toEqual([])
  held.cut()
  expect(await sent).toBe('lost')
  expect(await held.answered).toBe('lost')
  expect(seen).toEqual([])
})

test('an answer that is held is of a request that the store has done', async () => {
  const coming = gate.next('answer', isPost, 'the payment')
  const sent = send().catch(() => 'lost')
  const held = await coming
  expect(seen).toEqual(['POST /a'])
  held.cut()
  expect(await sent).toBe('lost')
})

test('a request whose sender is gone arrives all the same', async () => {
  const coming = gate.next('request', isPost, 'the payment')
  const ended = new AbortController()
  const sent = fetch(`${gate.url}/a`, { method: 'POST', body: 'x', signal: ended.signal }).catch(() => 'gone')
  const held = await coming
  ended.abort()
  expect(await sent).toBe('gone')
  held.go()
  expect(await held.answered).toBe('answered')
  expect(seen).toEqual(['POST /a'])
})

test('a store that is killed is a line that breaks, and one that is back is reached again', async () => {
  const { port } = store.address() as AddressInfo
  store.closeAllConnections()
  await new Promise((done) => store.close(done))
  expect(await send().catch(() => 'lost')).toBe('lost')
  await new Promise<void>((done) => store.listen(port, '127.0.0.1', done))
  expect((await send()).status).toBe(201)
})

test('the same seed breaks the same, and fifteen crashes break each step with each victim once', () => {
  expect(crashes(7, 40)).toEqual(crashes(7, 40))
  expect(crashes(7, 40)).not.toEqual(crashes(8, 40))
  const pairs = new Set(crashes(3, 15).map(({ step, victim }) => `${step} ${victim}`))
  expect(pairs.size).toBe(STEPS.length * VICTIMS.length)
})
