// Tries rules on a service that is called in-process and answers some requests in an unusual way. No time passes.
import { RULES } from '../../lib/simulator/rules/all.ts'
import { runRules } from '../../lib/simulator/rules/run-rules.ts'
import { Service } from '../../lib/simulator/rules/service.ts'
import { parseGiven } from '../../lib/testing/cookies.ts'
import { integration } from '../../lib/testing/settings.ts'
import type { Integration } from '../../lib/testing/settings.ts'
import type { Exchange, WireRequest, WireResponse } from '../../lib/testing/wire.ts'
import { SETTINGS, specServer } from '../helpers/spec-server.ts'
import type { Mistake } from '../helpers/spec-server.ts'

const SILENT = { code: 'timeout', sentence: 'The service gave no complete response within 5 s.' } as const

export interface Trial {
  changes?: Partial<Integration>
  /** As given to --cookie. */
  cookie?: string
  mistakes?: Mistake[]
  ineligible?: string
  signal?: AbortSignal
}

/** The rules with these identifiers, tried on a service that is called in-process. */
export async function tried (ids: string[], trial: Trial = {}) {
  const { changes = {}, cookie = 'sid=ada', mistakes = [], ineligible, signal } = trial
  const { app } = await specServer({ mistakes })
  const portal = integration({ app, ...SETTINGS })
  const base = changes.base ?? portal.base
  const at = (url: string): string => base.origin + new URL(url).pathname
  const addresses = {
    authorizeUrl: at(portal.authorizeUrl), tokenUrl: at(portal.tokenUrl), userUrl: at(portal.userUrl)
  }
  const service = new Service({ ...portal, ...addresses, ...changes }, {
    user: { cookies: parseGiven(cookie), headers: [] },
    ineligible: ineligible === undefined ? null : { cookies: parseGiven(ineligible), headers: [] },
    codeLifetime: null,
    loginRedirects: false,
    wait: async () => {}
  }, signal ?? new AbortController().signal)
  const rules = RULES.filter(({ id }) => ids.includes(id))
  return runRules(service, rules)
}

export type Answer = Partial<WireResponse> | 'silence' | null

/** A service that answers some requests otherwise; null leaves the answer as it is. */
export async function altered (answer: (request: WireRequest) => Answer, mistakes: Mistake[] = []): Promise<Trial> {
  const { app } = await specServer({ mistakes })
  const { send } = integration({ app, ...SETTINGS })
  return {
    changes: {
      async send (request): Promise<Exchange> {
        const other = answer(request)
        if (other === null) return send(request)
        if (other === 'silence') return { request, networkError: SILENT, milliseconds: 5000 }
        return { request, response: { status: 200, headers: [], body: '', ...other }, milliseconds: 1 }
      }
    }
  }
}

const pathOf = ({ url }: WireRequest): string => new URL(url).pathname
export const isToken = (request: WireRequest): boolean => pathOf(request) === '/oauth/token'
export const isUser = (request: WireRequest): boolean => pathOf(request) === '/oauth/user'
export const isAuthorize = (request: WireRequest): boolean => pathOf(request) === '/oauth/authorize'
export const redirect = (location: string): Answer => ({ status: 302, headers: [['Location', location]] })
export const json = (status: number, value: object): Answer =>
  ({ status, headers: [['Content-Type', 'application/json']], body: JSON.stringify(value) })

/** The verdict of one rule. */
export async function verdict (id: string, trial: Trial = {}) {
  const { findings, stopped } = await tried([id], trial)
  const [finding] = findings
  return { ...finding?.result, stopped }
}
