// Rules on what takes time or needs an address that no test listens at: tried on a service of which no response is
// waited for.
import t from 'tap'
import { Bench } from '../../lib/simulator/check/rules/bench.ts'
import { RULES } from '../../lib/simulator/check/rules/all.ts'
import { examine } from '../../lib/simulator/check/examination.ts'
import { parseGiven } from '../../lib/testing/cookies.ts'
import { integration, type Integration } from '../../lib/testing/settings.ts'
import { type Exchange, type WireRequest } from '../../lib/testing/wire.ts'
import { type Mistake, SETTINGS, specServer } from '../helpers/spec-server.ts'

const SILENT = { code: 'timeout', sentence: 'The service gave no complete answer within 5 s.' } as const

/** The rules with these identifiers, tried on a service that is called in-process. */
async function tried (ids: string[], changes: Partial<Integration> = {}, mistakes: Mistake[] = []) {
  const { app } = await specServer({ mistakes })
  const portal = integration({ app, ...SETTINGS })
  const base = changes.base ?? portal.base
  const at = (url: string): string => base.origin + new URL(url).pathname
  const addresses = {
    authorizeUrl: at(portal.authorizeUrl), tokenUrl: at(portal.tokenUrl), userUrl: at(portal.userUrl)
  }
  const bench = new Bench({ ...portal, ...addresses, ...changes }, {
    user: { cookies: parseGiven('sid=ada'), headers: [] },
    ineligible: null,
    codeLifetime: null,
    loginRedirects: false,
    wait: async () => {}
  }, new AbortController().signal)
  const rules = RULES.filter(({ id }) => ids.includes(id))
  return examine(bench, rules, { begins: () => {}, ends: () => {} })
}

/** A service that never answers the requests that this condition is true of. */
async function silentFor (condition: (request: WireRequest) => boolean): Promise<Integration['send']> {
  const { app } = await specServer()
  const { send } = integration({ app, ...SETTINGS })
  return async (request): Promise<Exchange> =>
    condition(request) ? { request, trouble: SILENT, milliseconds: 5000 } : send(request)
}

const LEGS = ['authorize.answer', 'token.hook', 'token.body', 'token.answer']

await t.test('token.body: a form is never answered, a request without body is', async (t) => {
  const isForm = ({ method, body }: WireRequest) => method === 'POST' && body !== undefined
  const { findings } = await tried(LEGS, { send: await silentFor(isForm) })
  t.match(findings.find(({ rule: { id } }) => id === 'token.body')?.verdict, {
    outcome: 'fail',
    got: /^The service gave no complete answer within 5 s to a form; a request without body gets 4\d\d with/
  })
  t.match(findings.find(({ rule: { id } }) => id === 'token.answer')?.verdict, {
    outcome: 'untested', reason: 'token.body fails'
  })
})

await t.test('token.body: one form is answered late, or the whole endpoint is silent: no finding', async (t) => {
  let forms = 0
  const { findings } = await tried(LEGS, { send: await silentFor(({ method }) => method === 'POST' && ++forms === 1) })
  t.match(findings.find(({ rule: { id } }) => id === 'token.body')?.verdict, { outcome: 'untested' })
  const silent = await tried(LEGS, { send: await silentFor(({ method }) => method === 'POST') })
  t.strictSame(silent.findings.filter(({ verdict: { outcome } }) => outcome === 'fail'), [])
  t.match(silent.stopped, /gave no complete answer/)
})

const HTTPS = ['address.https', 'address.redirect-uri-https']
const outcomes = async (changes: Partial<Integration>): Promise<string[]> =>
  (await tried(HTTPS, changes)).findings.map(({ rule: { id }, verdict: { outcome } }) => `${id} ${outcome}`)

await t.test('http is for this machine only, at the service as at the portal', async (t) => {
  t.strictSame(await outcomes({ base: new URL('http://partner.example') }), [
    'address.https fail', 'address.redirect-uri-https pass'
  ])
  t.strictSame(await outcomes({ redirectUri: 'http://portal.example/cb' }), [
    'address.https pass', 'address.redirect-uri-https fail'
  ])
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000', 'https://partner.example']) {
    t.strictSame(await outcomes({ base: new URL(origin), redirectUri: `${origin}/cb` }), [
      'address.https pass', 'address.redirect-uri-https pass'
    ], origin)
  }
})
