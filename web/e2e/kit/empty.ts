import { Chain } from './chain'
import { test as base } from './test'

/**
 * With headquarters as it is after its first start. Each file asks for its own: a worker that comes from one file to the
 * next keeps what is the same, and what one of them set up must not be there for the other.
 */
export const emptyTest = () =>
  base.extend<object, { chain: Chain }>({
    chain: [
      async ({}, use) => {
        const chain = await Chain.startEmpty()
        await use(chain)
        await chain.stop()
      },
      { scope: 'worker', timeout: 60_000 },
    ],
  })
