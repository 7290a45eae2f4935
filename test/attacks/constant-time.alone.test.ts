// Someone measures how long a comparison takes, and finds out a secret or a token piece by piece. No test can measure
// that with certainty. But it can ask who decides: whatever is compared with a secret is compared by `timingSafeEqual`
// of Node.js, which these tests replace by a function that says yes, or no, to everything. A comparison that `===` or
// `equals` decides, alone or beside it, does not follow.
// Alone: it replaces a function of node:crypto in its process.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { PORTAL, startApp } from '../app.ts'
import { basic, basicAsSent, inProcess } from '../wire.ts'

const real = crypto.timingSafeEqual
/** What each comparison says; undefined: the truth. */
let verdict: boolean | undefined
/** Bytes of the two values of each comparison. */
const compared: Array<[number, number]> = []

crypto.timingSafeEqual = (one, other) => {
  compared.push([one.byteLength, other.byteLength])
  return verdict ?? real(one, other)
}
syncBuiltinESMExports()

t.beforeEach(() => {
  verdict = undefined
  compared.length = 0
})

const { clientId, clientSecret } = PORTAL
const byBasic = { client_id: undefined, client_secret: undefined }

t.test('the client secret', async (t) => {
  const { app } = await startApp(t)
  const portal = inProcess(app)
  for (const [says, secret, status] of [[false, clientSecret, 401], [true, 'wrong', 200]] as const) {
    for (const [name, changes, headers] of [
      ['in the form', { client_secret: secret }, {}],
      ['in HTTP Basic, form-encoded', byBasic, basic(clientId, secret)],
      ['in HTTP Basic, as it is', byBasic, basicAsSent(clientId, secret)]
    ] as const) {
      const code = await portal.code()
      verdict = says
      const { status: got } = await portal.token({ code, ...changes }, headers)
      verdict = undefined
      t.equal(got, status, `${name}, where every comparison says ${says}`)
    }
  }
})

t.test('both spellings of HTTP Basic are compared, whichever is right', async (t) => {
  const { app } = await startApp(t)
  const portal = inProcess(app)
  for (const [name, header] of Object.entries({
    'form-encoded': basic(clientId, clientSecret),
    'as it is': basicAsSent(clientId, clientSecret),
    wrong: basic(clientId, 'wrong')
  })) {
    const code = await portal.code()
    compared.length = 0
    await portal.token({ code, ...byBasic }, header)
    t.strictSame(compared, [[32, 32], [32, 32]], `whole digests, which say nothing of the length: ${name}`)
  }
})

t.test('the proof of an access token', async (t) => {
  const { app } = await startApp(t)
  const portal = inProcess(app)
  const token = await portal.accessToken()
  const [locator, proof, rest] = [token.slice(0, 43), token.slice(43, 86), token.slice(86)]
  compared.length = 0
  verdict = false
  t.equal((await portal.user(token)).status, 401, 'the right proof, where every comparison says no')
  verdict = true
  const forged = locator + [...proof].reverse().join('') + rest
  t.equal((await portal.user(forged)).status, 200, 'another proof, where every comparison says yes')
  t.strictSame(compared, [[43, 43], [43, 43]], 'the whole proof')
})
