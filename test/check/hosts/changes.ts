// Kinds of changes that the tables have in common.
import type { FastifyReply, FastifyRequest, onSendAsyncHookHandler } from 'fastify'
import type { Change, Hook, User } from './host.ts'
import { recordOf, userOf } from './host.ts'

type Where = (request: FastifyRequest) => boolean

/** Requests to these endpoints. */
export const at = (...names: string[]): Where =>
  ({ url }) => names.some((name) => url.startsWith(`/oauth/${name}`))

export const server = at('token', 'user')

export const onRequest = (run: Hook): Change => ({
  prepare: (app) => { app.addHook('onRequest', run) }
})

/** A hook of the app that responds by itself. */
export const refuse = (status: number, body: unknown, where: Where = () => true): Change =>
  onRequest(async (request, reply) => where(request) ? reply.code(status).send(body) : undefined)

export const redirect = (where: Where, to: (url: string) => string): Change =>
  onRequest(async (request, reply) => where(request) ? reply.redirect(to(request.url), 301) : undefined)

/** A page of something that is not the app. */
export const title = (text: string): string => `<!doctype html><title>${text}</title><h1>${text}</h1>`

/** An onSend hook. It returns the payload, or undefined to leave it. */
export function onSend (
  change: (payload: string, reply: FastifyReply, request: FastifyRequest) => unknown, where: Where = at('')
): Change {
  const hook: onSendAsyncHookHandler = async (request, reply, payload) =>
    where(request) ? change(payload as string, reply, request) ?? payload : payload
  return { prepare: (app) => { app.addHook('onSend', hook) } }
}

/** Changes the JSON of responses. */
export const json = (change: (data: Record<string, unknown>) => unknown, where = server): Change =>
  onSend((payload) => payload.startsWith('{') ? JSON.stringify(change(JSON.parse(payload))) : undefined, where)

/** Changes the redirects of /oauth/authorize. */
export const location = (change: (url: string) => string): Change => onSend((_payload, reply) => {
  const url = reply.getHeader('location')
  if (url !== undefined) reply.header('location', change(String(url)))
}, at('authorize'))

/** Changes headers when they are written, behind every hook. */
export const headers = (changed: Record<string, string | undefined>): Change => onRequest(async (_request, { raw }) => {
  const writeHead = raw.writeHead.bind(raw)
  const changing = (status: number, given: object) => {
    const kept = Object.entries({ ...given, ...changed }).filter(([, value]) => value !== undefined)
    return writeHead(status, Object.fromEntries(kept))
  }
  raw.writeHead = changing as typeof raw.writeHead
})

/** Changes the status when it is written, behind every hook. */
export const status = (change: (status: number) => number, where: Where): Change =>
  onRequest(async (request, { raw }) => {
    if (!where(request)) return
    const writeHead = raw.writeHead.bind(raw)
    const changing = (status: number, given: object) => writeHead(change(status), given as Record<string, string>)
    raw.writeHead = changing as typeof raw.writeHead
  })

export const currentUser = (find: (request: FastifyRequest, reply: FastifyReply) => unknown): Change =>
  ({ plugin: { currentUser: find as (request: FastifyRequest) => User } })

/** `portalEligibility` for users who may enter. */
export const record = (change: (user: User) => object): Change => ({
  plugin: { portalEligibility: (user) => user.isAgent ? { ...recordOf(user), ...change(user) } : null }
})

export const isLoggedIn: Where = (request) => userOf(request) !== null
