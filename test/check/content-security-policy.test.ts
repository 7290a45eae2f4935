// A form-action that blocks the way back to the portal is found, and no other.
import t from 'tap'
import { formActionAgainst } from '../../lib/check/content-security-policy.ts'
import type { Exchange } from '../../lib/flow/wire.ts'

const PORTAL = 'https://portal.example/cb'
const PORT = 'https://portal.example:8443/cb'
const LOCAL = 'http://127.0.0.1:4180/cb'

const page = (...policies: string[]): Exchange => ({
  request: { method: 'GET', url: 'https://partner.example/login', headers: [] },
  response: { status: 200, headers: policies.map((one) => ['Content-Security-Policy', one]), body: '<form>' },
  milliseconds: 1
})

t.test('policies that let the form lead to the portal', async (t) => {
  const allowed: Array<[string, string]> = [
    ['default-src \'none\'', PORTAL], ['form-action *', PORTAL], ['form-action https:', PORTAL],
    ['form-action https://portal.example', PORTAL], ['form-action \'self\' portal.example', PORTAL],
    ['form-action *.example', PORTAL], ['form-action http:', LOCAL], ['form-action http://127.0.0.1:*', LOCAL],
    ['FORM-ACTION https://portal.example/other/path', PORTAL], ['form-action HTTPS://Portal.Example', PORTAL],
    ['form-action https://portal.example:8443', PORT], ['form-action *, default-src \'self\'', PORTAL]
  ]
  for (const [policy, redirectUri] of allowed) {
    t.equal(formActionAgainst(page(policy), redirectUri), null, policy)
  }
})

t.test('policies that do not', async (t) => {
  const forbidden: Array<[string, string]> = [
    ['form-action \'self\'', PORTAL], ['form-action \'none\'', PORTAL], ['form-action', PORTAL],
    ['form-action wss://portal.example', PORTAL],
    ['form-action https://other.example', PORTAL], ['form-action *.portal.example', PORTAL],
    ['form-action https://portal.example', PORT], ['form-action https:', LOCAL],
    ['form-action https://127.0.0.1:4180', LOCAL], ['default-src *; form-action *, form-action \'self\'', PORTAL]
  ]
  for (const [policy, redirectUri] of forbidden) {
    t.match(formActionAgainst(page(policy), redirectUri), /form-action/, policy)
  }
})

t.test('each of several headers counts', async (t) => {
  t.match(formActionAgainst(page('form-action *', 'form-action \'self\''), PORTAL), /form-action/)
  t.equal(formActionAgainst(page('form-action *', 'default-src \'self\''), PORTAL), null)
})
