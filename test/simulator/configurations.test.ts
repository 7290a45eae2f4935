// A correct service, checked in many ways: no rule fails, and none is untested but those that need to know more.
import t from 'tap'
import { pairwise } from '../contract/pairwise.ts'
import { REDIRECT_URI } from '../helpers/service.ts'
import { EVERY_RULE, failedRules, tried } from './trial.ts'
import type { Trial } from './trial.ts'

/** How the user is known. */
const USERS: Record<string, Trial> = {
  pair: { cookie: 'sid=ada' },
  line: { cookie: 'Set-Cookie: sid=ada; Path=/; SameSite=Lax' },
  header: { cookie: 'Set-Cookie: csrf=1; Path=/; SameSite=Strict', headers: [['X-Session', 'sid=ada']] }
}

const configurations = pairwise({
  user: Object.keys(USERS),
  prefix: ['', '/app'],
  redirectUri: [REDIRECT_URI, 'https://portal.example/oauth/callback?tenant=1'],
  pkce: [false, true],
  basic: [false, true],
  ineligible: ['', 'sid=eve'],
  codeLifetime: [null, 60],
  loginRedirects: [false, true],
  page: ['<form method=post><input name=user></form>', '<a href="/sso">Log in</a>']
})

for (const { user, prefix, ineligible, page, ...more } of configurations) {
  await t.test(JSON.stringify({ user, prefix, ineligible, page, ...more }), async (t) => {
    const { findings, stopped } = await tried(EVERY_RULE, {
      ...more,
      ...USERS[user],
      ...ineligible === '' ? {} : { ineligible },
      parts: { prefix, redirectUri: more.redirectUri, loginPage: () => page }
    })
    t.equal(stopped, undefined)
    t.strictSame(failedRules(findings), [])
    const untested = findings.filter(({ result }) => result.outcome === 'untested').map(({ rule }) => rule.id)
    t.strictSame(untested, [
      ...user === 'pair' ? ['login.cookie'] : [],
      ...page.includes('<form') ? [] : ['login.form-action', 'login.return'],
      ...ineligible === '' ? ['authorize.eligibility', 'authorize.access-denied'] : [],
      'token.other-client', 'token.mixed-credentials',
      ...more.codeLifetime === null ? ['token.code-lifetime'] : [],
      'user.token-lifetime'
    ])
  })
}
