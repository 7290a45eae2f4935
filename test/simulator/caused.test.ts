// The refusals that a check says it caused are those that the operator of the service sees.
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Exchange } from '../../lib/flow/wire.ts'
import { CHECK_HELP } from '../../lib/simulator/check/check.ts'
import { RefusalCount } from '../../lib/simulator/check/caused.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { report } from '../helpers/program.ts'

/** Of --help and of the runbook. */
const FIGURES = /causes about (\d+) refusals, (\d+) of them for\s+wrong credentials, and replays about\s+(\d+) codes/

const HOST = [
  '--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri, '--header', 'x-user: alice'
]

await t.test('the numbers are those of the events of the plugin', async (t) => {
  const { url, events } = await startHost(t)
  const before = new Date().toISOString()
  const { caused } = await report(url, HOST, { env: { PORTAL_CLIENT_SECRET: PORTAL.clientSecret } })
  const after = new Date().toISOString()
  const seen = (type: string): number => events.filter((event) => event.type === type).length
  const { invalid_client: clients, access_denied: denied, 404: absent = 0, ...others } = caused.refusals
  t.equal(clients, seen('client_authentication_failed'))
  t.equal(denied, seen('sign_in_refused'))
  const rest = Object.values(others).reduce((sum, count) => sum + count, 0)
  t.equal(rest, seen('request_rejected') + seen('code_replayed'), 'what is not found is not the plugin’s')
  t.ok(absent > 0)
  const replayed = events.filter(({ type }) => type === 'code_replayed').map(({ signInId }) => signInId)
  // In a race the token may be revoked before it is sent: then the check saw no redemption.
  t.ok(caused.replayedCodes > 0 && caused.replayedCodes <= new Set(replayed).size)
  t.strictSame([before, caused.from, caused.to, after].sort(), [before, caused.from, caused.to, after])
  const total = Object.values(caused.refusals).reduce((sum, count) => sum + count, 0)
  for (const text of [CHECK_HELP, readFileSync('.github/RUNBOOK.md', 'utf8')]) {
    const [, all, credentials, codes] = FIGURES.exec(text) ?? []
    // Each of the two races has 19 losers, and is run three to nine times.
    t.ok(total > 0.9 * Number(all) && total < 1.4 * Number(all), `${total}, where ${all} are said`)
    t.ok(Math.abs(Number(clients) - Number(credentials)) < 10, `${clients}, where ${credentials} are said`)
    t.ok(Math.abs(new Set(replayed).size - Number(codes)) <= 6, `${replayed}, where ${codes} are said`)
  }
})

const exchange = (body: string, status: number, error?: string, location?: string): Exchange => ({
  request: { method: 'POST', url: 'http://localhost/oauth/token', headers: [], body },
  response: {
    status,
    headers: location === undefined ? [] : [['Location', location]],
    body: error === undefined ? '{}' : JSON.stringify({ error })
  },
  milliseconds: 1
})

await t.test('each refusal is counted once, a code that is sent again, also in a race, as one replay', async (t) => {
  const count = new RefusalCount()
  for (const [body, status, error] of [
    ['code=a', 200], ['code=a', 400, 'invalid_grant'], ['code=a', 400, 'invalid_grant'], ['code=b', 200],
    // In a race.
    ['code=g', 400, 'invalid_grant'], ['code=g', 200],
    ['code=b&secret=wrong', 401, 'invalid_client'], ['code=c', 400, 'invalid_grant'], ['code=d', 500, '<script>'],
    // With Basic the form says nothing of the wrong secret.
    ['code=f', 401, 'invalid_client'], ['code=f', 200]
  ] as const) count.add(exchange(body, status, error))
  count.add(exchange('', 302, undefined, 'https://portal.example/cb?error=access_denied'))
  count.add(exchange('', 302, undefined, 'https://portal.example/cb?error=%1b[31m'))
  count.add({ ...exchange('', 302, undefined, 'https://portal.example/cb?code=e') })
  t.match(count.result(), {
    refusals: { 500: 1, invalid_grant: 4, invalid_client: 2, access_denied: 1 }, replayedCodes: 2
  })
  t.equal(Object.keys(count.result().refusals).length, 4)
})
