// A form-action that blocks the way back to the portal is found, and no other.
import t from 'tap'
import { formActionBlocking, policiesOf } from '../../lib/check/content-security-policy.ts'
import { formsOf } from '../../lib/flow/login-form.ts'
import type { WireResponse } from '../../lib/flow/wire.ts'

const PORTAL = 'https://portal.example/cb'
const PORT = 'https://portal.example:8443/cb'
const LOCAL = 'http://127.0.0.1:4180/cb'

function blocked (policy: string, redirectUri: string): string | undefined {
  const headers = [['Content-Security-Policy', policy]] as const
  return formActionBlocking(policiesOf({ status: 200, headers, body: '<form>' }), redirectUri)
}

await t.test('policies that let the form lead to the portal', async (t) => {
  const allowed: Array<[string, string]> = [
    ['default-src \'none\'', PORTAL], ['form-action *', PORTAL], ['form-action https:', PORTAL],
    ['form-action https://portal.example', PORTAL], ['form-action \'self\' portal.example', PORTAL],
    ['form-action http:', PORTAL], ['form-action http://portal.example', PORTAL], ['form-action *.example', PORTAL],
    ['form-action *.example:*', PORTAL], ['form-action *.example:*', PORT], ['form-action http:', LOCAL],
    ['FORM-ACTION https://portal.example/other/path', PORTAL], ['form-action https://portal.example:443', PORTAL],
    ['form-action https://portal.example:*', PORT],
    ['form-action HTTPS://Portal.Example', PORTAL],
    ['form-action https://portal.example:8443', PORT], ['form-action *; form-action \'self\'', PORTAL]
  ]
  for (const [policy, redirectUri] of allowed) t.equal(blocked(policy, redirectUri), undefined, policy)
})

await t.test('policies that do not', async (t) => {
  const forbidden: Array<[string, string]> = [
    ['form-action \'self\'', PORTAL], ['form-action \'none\'', PORTAL], ['form-action', PORTAL],
    ['form-action wss://portal.example', PORTAL],
    ['form-action https://other.example', PORTAL], ['form-action *.portal.example', PORTAL],
    ['form-action https://portal.example', PORT],
    ['form-action https://portal.example:x', PORTAL], ['form-action https:', LOCAL],
    ['form-action https://127.0.0.1:4180', LOCAL]
  ]
  for (const [policy, redirectUri] of forbidden) t.equal(blocked(policy, redirectUri), policy, policy)
  t.equal(blocked('default-src *; form-action *, form-action \'self\'', PORTAL), 'form-action \'self\'')
})

// A time that grew with the square of the size would exceed tap's limit.
await t.test('the time grows with the size of a page', (t) => {
  const parts = [
    'x', '<meta', '<meta ', '<meta http-equiv=', '<meta content="', '<meta http-equiv=content-security-policy ',
    '<meta http-equiv=content-security-policy content="', '<form', '<form action="', '<form ', ' onx', ' on'
  ]
  for (const part of parts) {
    const body = part.repeat(2 ** 22 / part.length)
    t.equal(policiesOf({ status: 200, headers: [], body })[0], '', part)
    t.type(formsOf(body), Array)
  }
  t.end()
})

await t.test('policies of a login page, however they are written', (t) => {
  const response: WireResponse = { status: 200, headers: [], body: '<meta http-equiv=Content-Security-Policy>' }
  t.strictSame(policiesOf(response), ['', ''], 'neither a header nor a content')
  const meta = '<META content=\'form-action "a"\' http-equiv=Content-Security-Policy>'
  t.strictSame(policiesOf({ ...response, body: meta }), ['', 'form-action "a"'])
  t.end()
})
