// Tries rules on a service that is called in-process and gives some responses of its own. No time passes.
import { RULES } from '../../lib/simulator/rules/all.ts'
import { runRules } from '../../lib/simulator/rules/run-rules.ts'
import type { Finding } from '../../lib/simulator/rules/run-rules.ts'
import { Service } from '../../lib/simulator/rules/service.ts'
import { parseGiven } from '../../lib/flow/cookies.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import type { Exchange, Headers, Send, WireRequest, WireResponse } from '../../lib/flow/wire.ts'
import { SETTINGS, specServer } from '../helpers/spec-server.ts'
import type { SpecServer } from '../helpers/spec-server.ts'
import type { Mistake } from './mistakes.test.ts'

const SILENT = { code: 'timeout', sentence: 'The service gave no complete response within 5 s.' } as const

/** What a service sends instead of its own response; null leaves that as it is. */
export type Reply = Partial<WireResponse> | 'silence' | null
export type Alteration = (request: WireRequest) => Reply

export interface Trial {
  reply?: Alteration
  /** Another service, in front of the server of the tests. */
  service?: (request: WireRequest) => Promise<Reply>
  mistakes?: Mistake[]
  /** Settings of the service. */
  server?: { prefix?: string, redirectUri?: string, loginPage?: string }
  baseUrl?: string
  /** As the portal has them. */
  redirectUri?: string
  clientId?: string
  clientSecret?: string
  /** As given to --cookie. */
  cookie?: string
  headers?: Headers
  ineligible?: string
  codeLifetime?: number | null
  tokenLifetime?: number
  deadline?: number
  second?: { clientId: string, clientSecret: string }
  /** Called with the time that passes. */
  pass?: (milliseconds: number) => void
  pkce?: boolean
  basic?: boolean
  loginRedirects?: boolean
}

export const EVERY_RULE = RULES.map(({ id }) => id)

/** The rules with these identifiers, tried on a service that is called in-process. */
export async function tried (ids: string[], trial: Trial = {}) {
  const { reply = () => null, mistakes = [], server, cookie = 'sid=ada', headers = [], ineligible } = trial
  const { baseUrl = `http://localhost${server?.prefix ?? ''}`, codeLifetime = null } = trial
  const { redirectUri, clientId, clientSecret } = { ...SETTINGS, ...trial }
  const { service: other = async () => null } = trial
  let now = Date.now()
  let started: Promise<SpecServer> | undefined
  const send: Send = async (request) => {
    const { app } = await (started ??= specServer({ mistakes, now: () => now, ...server }))
    return await createIntegration({ app, ...SETTINGS }).send(request)
  }
  const altered = async (request: WireRequest): Promise<Exchange> => {
    const start = performance.now()
    const own = reply(request) ?? await other(request)
    if (own === 'silence') return { request, networkError: SILENT, milliseconds: 5000 }
    const exchange = own === null
      ? await send(request)
      : { request, response: { status: 200, headers: [], body: '', ...own } }
    return { ...exchange, milliseconds: performance.now() - start }
  }
  const { pkce = false, basic = false } = trial
  const sent = { pkce, clientAuthentication: basic ? 'basic' as const : 'form' as const }
  const integration = createIntegration({ baseUrl, ...SETTINGS, redirectUri, clientId, clientSecret, ...sent })
  const service = new Service({ ...integration, send: altered }, {
    user: { cookies: parseGiven(cookie), headers },
    ineligible: ineligible === undefined ? null : { cookies: parseGiven(ineligible), headers: [] },
    codeLifetime,
    tokenLifetime: trial.tokenLifetime ?? null,
    deadline: trial.deadline ?? 300,
    second: trial.second ?? null,
    loginRedirects: trial.loginRedirects === true,
    wait: async (milliseconds) => {
      now += milliseconds
      trial.pass?.(milliseconds)
    }
  })
  return runRules(service, RULES.filter(({ id }) => ids.includes(id)))
}

/** The rules that fail: `!` for a failure, `?` for advice. */
export const failedRules = (findings: Finding[]): string[] => findings.flatMap(({ rule: { id }, result }) =>
  result.outcome === 'fail' ? [`${result.severity === 'must' ? '!' : '?'}${id}`] : [])

/** The verdict of one rule. */
export async function verdict (id: string, trial: Trial = {}) {
  const { findings, stopped } = await tried([id], trial)
  const [finding] = findings
  return { ...finding?.result, stopped }
}

export const pathOf = ({ url }: WireRequest): string => new URL(url).pathname
export const valueOf = ({ url }: WireRequest, name: string): string => String(new URL(url).searchParams.get(name))
const of = (is: (request: WireRequest) => boolean) => (reply: Reply | Alteration): Alteration => (request) => {
  if (!is(request)) return null
  return typeof reply === 'function' ? reply(request) : reply
}
const hasCookie = ({ headers }: WireRequest): boolean => headers.some(([name]) => name === 'Cookie')

/** Alterations of an endpoint: one reply to all requests, or as each request says. */
export const atAuthorize = of((request) => pathOf(request) === '/oauth/authorize')
export const atToken = of((request) => pathOf(request) === '/oauth/token')
export const atUser = of((request) => pathOf(request) === '/oauth/user')
export const atLogin = of((request) => pathOf(request) === '/login')
/** Of the authorization endpoint, for a browser without cookies. */
export const loggedOut = of((request) => pathOf(request).endsWith('/oauth/authorize') && !hasCookie(request))

/** The first of several alterations that replies. */
export const first = (...alterations: Alteration[]): Alteration => (request) =>
  alterations.reduce<Reply>((reply, next) => reply ?? next(request), null)

export const page = (body: string): Reply => ({ headers: [['Content-Type', 'text/html']], body })
export const redirect = (location: string, headers: Headers = []): Reply =>
  ({ status: 302, headers: [['Location', location], ...headers] })
export const json = (status: number, value: object, headers: Headers = []): Reply =>
  ({ status, headers: [['Content-Type', 'application/json'], ...headers], body: JSON.stringify(value) })
export const error = (status: number, code: string, description?: string): Reply =>
  json(status, { error: code, error_description: description })
