import { Chain } from './chain'
import { test as base } from './test'

/** With headquarters as it is after its first start. */
export const test = base.extend<object, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.startEmpty()
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 60_000 },
  ],
})
