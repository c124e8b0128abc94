import { Chain } from './chain'
import { test as base } from './test'

/** With a chain that no other tests have put stores into: what is seen depends on how many there are. */
export const test = base.extend<object, { chain: Chain }>({
  chain: [
    async ({}, use) => {
      const chain = await Chain.start()
      await use(chain)
      await chain.stop()
    },
    { scope: 'worker', timeout: 180_000 },
  ],
})
