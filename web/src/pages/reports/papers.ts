import { api, written } from '@/api/client'

/** Letters of a line, as on a roll of 80 mm. */
const asText = { format: 'text', width: 42 } as const

/** The Z of a drawer as it stands on paper. */
export const zPaper = (sessionId: string): Promise<string> =>
  written(api.GET('/api/v1/reports/z/{sessionId}', { params: { path: { sessionId }, query: asText }, parseAs: 'text' }))

/** A ZZ of a register, or without one of a whole store, as it stands on paper. */
export const zzPaper = (storeId: string, zzNumber: string, registerCode?: string): Promise<string> =>
  written(
    api.GET('/api/v1/reports/zz/{storeId}/{zzNumber}', {
      params: { path: { storeId, zzNumber }, query: { ...asText, registerCode } },
      parseAs: 'text',
    }),
  )
