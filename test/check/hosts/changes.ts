// Kinds of changes that the tables have in common.
import helmet from '@fastify/helmet'
import type { FastifyHelmetOptions } from '@fastify/helmet'
import type { FastifyReply, FastifyRequest, onSendAsyncHookHandler } from 'fastify'
import type { UserInformation } from '../../../lib/index.ts'
import { personOf, recordOf, sessionCookie } from '../../app.ts'
import type { Change } from './row.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

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
  ({ options: { currentUser: find as (request: FastifyRequest) => string } })

/** Changes the records of those who may enter. */
export const record = (change: (record: UserInformation) => object): Change => ({
  options: {
    portalEligibility (person) {
      const record = recordOf(person)
      return record === null ? null : { ...record, ...change(record) } as UserInformation
    }
  }
})

export const isLoggedIn: Where = (request) => personOf(request) !== null

/** A login form, with more in it. */
export const form = (inside = ''): string =>
  `<!doctype html><form method="post">${inside}<input name="user"><button>Log in</button></form>`

/** The login form, sent to this address. */
export const formTo = (action: string): string => form().replace('method="post"', `$& action="${action}"`)

/** The login page, by its HTML. */
export const loginPage = (htmlOf: (request: FastifyRequest, reply: FastifyReply) => string): Change =>
  ({ loginPage: (request, reply) => reply.type('text/html').send(htmlOf(request, reply)) })

/** The page of an app that runs in the browser. */
export const scripts = loginPage(() => '<!doctype html><div id="app"></div><script src="/app.js"></script>')

/** The session cookie with these attributes. */
export const sessionWith = (attributes: string): Change => ({
  startSession: (person, reply) => reply.header('set-cookie', sessionCookie(person, attributes))
})

/** The address to return to, as the login page has it in its query. */
export const returnTo = ({ query }: FastifyRequest): string => (query as Record<string, string>).return_to ?? '/'

/** @fastify/helmet, and a login page without a policy of its own. */
export const withHelmet = (options: FastifyHelmetOptions): Change =>
  ({ ...loginPage(() => form()), prepare: (app) => app.register(helmet, options) })

/** @fastify/helmet with this form-action. */
export const formAction = (...sources: string[]): Change =>
  withHelmet({ contentSecurityPolicy: { directives: { formAction: sources } } })
