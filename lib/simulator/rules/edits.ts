import type { Edit } from '../../flow/legs.ts'

export const FORM = 'application/x-www-form-urlencoded'

export const inTurn = (...edits: Edit[]): Edit => (request) =>
  edits.reduce((edited, edit) => edit(edited), request)

export const by = (method: string): Edit => (request) => ({ ...request, method })

/** Sets a header; removes it where no value is given. */
export const withHeader = (name: string, value?: string): Edit => (request) => {
  const others = request.headers.filter(([other]) => other !== name)
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] }
}

export const bearer = (token: string): Edit => withHeader('Authorization', `Bearer ${token}`)

export const withQuery = (parameters: Record<string, string>): Edit => (request) =>
  ({ ...request, url: `${request.url}?${new URLSearchParams(parameters).toString()}` })

/** Node sends Content-Length by itself for POST and PUT only. */
export const withBody = (type: string, body: string): Edit => inTurn(
  withHeader('Content-Type', type),
  withHeader('Content-Length', String(Buffer.byteLength(body))),
  (request) => ({ ...request, body })
)
