import { customer, type Chain } from './chain'

/** Something to see on the pages about what went wrong: a failed entry, a lock. */
export async function goWrong(chain: Chain, name: string): Promise<{ lock: () => Promise<void> }> {
  const site = chain.sites[0]!
  const number = `AXE-${name}`
  await chain.push(site, customer(site, number, 'Holder'), customer(site, number, 'Planted'))
  await chain.hire(name, [])
  // It takes a while, and lasts for a moment only: begun here, and made again where it is looked at.
  const locked = chain.lockOut(name)
  return { lock: () => locked.then(() => chain.lockOut(name)) }
}
