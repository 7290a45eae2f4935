// Tries rules on a service that is called in-process and gives some responses of its own. No time passes.
import { RULES } from '../../lib/simulator/rules/all.ts'
import { runRules } from '../../lib/simulator/rules/run-rules.ts'
import type { Finding } from '../../lib/simulator/rules/run-rules.ts'
import { Service } from '../../lib/simulator/rules/service.ts'
import { parseGiven } from '../../lib/flow/cookies.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import type { Exchange, Headers, WireRequest } from '../../lib/flow/wire.ts'
import { json, serviceOf, SETTINGS } from '../helpers/service.ts'
import type { Parts, Reply } from '../helpers/service.ts'

const SILENT = { code: 'timeout', sentence: 'The service gave no complete response within 5 s.' } as const

/** What a service sends instead of its own response; null leaves that as it is. */
export type Alteration = (request: WireRequest) => Reply

export interface Trial {
  reply?: Alteration
  /** Another service, in front of the one of the tests, which it may ask. */
  service?: (request: WireRequest, own: (request: WireRequest) => Promise<Reply>) => Promise<Reply>
  /** Of the service of the tests: the rest is correct. */
  parts?: Partial<Parts>
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
  pkce?: boolean
  basic?: boolean
  loginRedirects?: boolean
}

export const EVERY_RULE = RULES.map(({ id }) => id)

/** The rules with these identifiers, tried on a service that is called in-process. */
export async function tried (ids: string[], trial: Trial = {}) {
  const { reply = () => null, parts = {}, cookie = 'sid=ada', headers = [], ineligible } = trial
  const { baseUrl = `http://localhost${parts.prefix ?? ''}`, codeLifetime = null } = trial
  const { redirectUri, clientId, clientSecret } = { ...SETTINGS, ...trial }
  const { service: other = async () => null } = trial
  let now = Date.now()
  const own = serviceOf(parts, () => now)
  const send = async (request: WireRequest): Promise<Exchange> => {
    const start = performance.now()
    const sent = reply(request) ?? await other(request, own) ?? await own(request)
    if (sent === 'silence') return { request, networkError: SILENT, milliseconds: 5000 }
    const response = { status: 200, headers: [], body: '', ...sent }
    return { request, response, milliseconds: performance.now() - start }
  }
  const { pkce = false, basic = false } = trial
  const sent = { pkce, clientAuthentication: basic ? 'basic' as const : 'form' as const }
  const integration = createIntegration({ baseUrl, ...SETTINGS, redirectUri, clientId, clientSecret, ...sent })
  const service = new Service({ ...integration, send }, {
    user: { cookies: parseGiven(cookie), headers },
    ineligible: ineligible === undefined ? null : { cookies: parseGiven(ineligible), headers: [] },
    codeLifetime,
    tokenLifetime: trial.tokenLifetime ?? null,
    deadline: trial.deadline ?? 300,
    second: trial.second ?? null,
    loginRedirects: trial.loginRedirects === true,
    wait: async (milliseconds) => { now += milliseconds }
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
export const error = (status: number, code: string, description?: string): Reply =>
  json(status, { error: code, error_description: description })
