import { api, data, type Schemas } from '@/api/client'
import { queryClient } from '@/api/queries'
import type { Currency } from '@/format/money'

/** What new stores begin with, and the currency of prices before there is a store. */
export type Chain = Schemas['Chain']

/** Kept for all pages; {@link ensureChain} asks again, {@link knowChain} is told. */
export const CHAIN = {
  queryKey: ['chain'],
  queryFn: (): Promise<Chain> => data(api.GET('/api/v1/chain')),
  staleTime: Infinity,
  gcTime: Infinity,
}

/** As it is now: of an amount that is typed, the decimals must be right. */
export const ensureChain = (): Promise<Chain> => queryClient.fetchQuery({ ...CHAIN, staleTime: 0 })

export const knowChain = (chain: Chain): unknown => queryClient.setQueryData(CHAIN.queryKey, chain)

export const currencyOfChain = ({ currencyCode, currencyExponent }: Chain): Currency => ({
  code: currencyCode,
  exponent: currencyExponent,
})
