// The common mistakes of services: each fails its own rule, and no other.
import t from 'tap'
import type { Test } from 'tap'
import { MISTAKES } from '../helpers/mistakes.ts'
import type { Mistake } from '../helpers/mistakes.ts'
import type { Parts } from '../helpers/service.ts'
import { EVERY_RULE, failedRules, tried } from './trial.ts'

/** The rules that fail. Rules that are untested because of these are not listed. */
const FOUND: Record<Mistake, string[]> = {
  'login-loses-prefix': ['!login.return'],
  'code-never-expires': ['!token.code-lifetime'],
  'login-csp': ['?login.form-action'],
  'login-loop': ['!login.page'],
  'login-404': ['!login.page'],
  'login-elsewhere': [],
  'login-broken': ['!login.page'],
  'login-forgets': ['!login.return'],
  'login-hook': ['?login.page', '!token.hook'],
  'authorize-hook': ['!authorize.hook'],
  'auth-hook': ['!token.hook'],
  'auth-hook-redirects': ['!token.hook'],
  'csrf-hook': ['!token.hook'],
  'user-hook': ['!user.hook'],
  'body-read': ['!token.body'],
  spa: ['!address.endpoints'],
  'head-twins': ['?authorize.head', '?user.head'],
  cacheable: ['?authorize.no-store', '!token.no-store', '?user.no-store'],
  framable: ['?login.framing', '?authorize.framing'],
  referrer: ['?authorize.referrer'],
  'any-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'any-client': ['!authorize.unknown-client'],
  'no-login-check': ['!authorize.login-needed'],
  'everyone-eligible': ['!authorize.eligibility'],
  'refusal-without-redirect': ['?authorize.access-denied'],
  'state-changed': ['!authorize.state'],
  'state-lost': ['!authorize.state'],
  'state-optional': ['?authorize.state-needed'],
  'any-response-type': ['!authorize.response-type'],
  'repeated-parameters': ['?authorize.repeated', '?token.repeated'],
  echo: ['!authorize.no-injection'],
  'any-secret': ['!token.wrong-secret'],
  'any-token-client': ['!token.unknown-client'],
  'reusable-code': ['!token.replayed-code'],
  'racy-code': ['!token.race'],
  'any-token-redirect': ['!token.foreign-redirect-uri'],
  'any-grant': ['!token.grant-type'],
  'any-code': ['!token.unknown-code'],
  'burns-code': ['?token.wrong-caller-burns-nothing'],
  'json-body': ['?token.form-only'],
  'url-credentials': ['!token.credentials-in-url'],
  'no-basic': ['?token.basic'],
  'pkce-any-verifier': ['?token.pkce'],
  'pkce-optional-verifier': ['?token.pkce'],
  'replay-leaves-token': ['?token.replay-revokes'],
  'html-token': ['!token.response'],
  'text-token': ['!token.response'],
  'lower-bearer': ['!token.response'],
  'plain-errors': ['?token.error'],
  'optional-parameters': ['!token.foreign-redirect-uri', '!token.missing-redirect-uri', '!token.missing-grant-type'],
  'code-is-token': ['!user.code-as-token'],
  'token-is-code': ['!token.access-token-as-code'],
  'reusable-token': ['!user.replayed-token'],
  'racy-token': ['!user.race'],
  'any-token': ['!user.unknown-token'],
  'no-token-needed': ['!user.no-token'],
  'session-is-token': ['!user.session-is-no-token'],
  'query-token': ['?user.header-only'],
  'case-scheme': ['?user.scheme-case'],
  'wrong-role': ['!user.record'],
  'extra-fields': ['?user.listed-fields'],
  'user-404': ['!address.endpoints'],
  'email-in-refusal': ['!user.unknown-token'],
  'unknown-client-500': [
    '?authorize.foreign-redirect-uri', '?authorize.unknown-client', '?authorize.missing-client',
    '?authorize.repeated'
  ]
}

/** The rules that fail of a service with these parts, and its cookie. */
async function failed (t: Test, parts: Partial<Parts>, cookie: string): Promise<string[]> {
  const more = { ineligible: 'sid=eve', codeLifetime: 60 }
  const { findings, stopped } = await tried(EVERY_RULE, { parts: { ...parts, prefix: '/app' }, cookie, ...more })
  t.equal(stopped, undefined)
  return failedRules(findings)
}

for (const [mistake, expected] of Object.entries(FOUND) as Array<[Mistake, string[]]>) {
  await t.test(mistake, async (t) => {
    t.strictSame(await failed(t, MISTAKES[mistake], 'sid=ada; SameSite=Lax'), expected)
  })
}

await t.test('a Strict cookie', async (t) => {
  t.strictSame(await failed(t, {}, 'sid=ada; SameSite=Strict'), ['!login.cookie'])
})
