// Someone wears the service down: a body without end, bytes that come one by one, connections that break off. A portal
// is served meanwhile. What a request costs in processor time: test/attacks/amplification.
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { say, tokenForm, tokenRequest } from './helpers/raw.ts'
import { CODE } from './helpers/settings.ts'

const whole = tokenRequest(`${tokenForm('c'.repeat(CODE))}`)

/** Whether a user can sign in. The short time limits of a test may end a sign-in on a busy machine: it tries again. */
async function signsIn (url: string): Promise<boolean> {
  const portal = wire(url)
  for (let attempt = 0; attempt < 100; attempt++) {
    const response = await portal.accessToken().then((token) => portal.user(token)).catch(() => null)
    if (response?.status === 200) return true
  }
  return false
}

t.test('a body without end', async (t) => {
  const { url, events } = await startHost(t)
  const chunks = Array.from({ length: 100 }, () => `1000\r\n${'a'.repeat(0x1000)}\r\n`)
  const endless = await say(url, [tokenRequest('', ['Transfer-Encoding: chunked']), ...chunks])
  t.strictSame([endless.statuses, endless.closed], [[400], true])
  t.match(events, [{ reason: 'body_unreadable' }])
})

t.test('slow connections', async (t) => {
  const limits = { requestTimeout: 400, http: { headersTimeout: 300, connectionsCheckingInterval: 100 } }
  const { url } = await startHost(t, {}, { server: limits as FastifyServerOptions })
  const slow = Promise.all([
    say(url, [...whole.slice(0, 40)], { pause: 50 }),
    say(url, [whole.slice(0, -10), ...whole.slice(-10)], { pause: 200 })
  ])
  t.ok(await signsIn(url), 'a portal is served meanwhile')
  for (const { closed, statuses } of await slow) {
    t.ok(closed, 'where the host sets requestTimeout, the server hangs up')
    t.ok(statuses.every((status) => status === 408), statuses.join())
  }
})

t.test('connections that break off', async (t) => {
  const { url, events } = await startHost(t)
  for (const length of [1, 20, whole.indexOf('\r\n\r\n') + 2, whole.length - 70, whole.length - 1]) {
    const { closed } = await say(url, whole.slice(0, length), { end: true })
    t.ok(closed, `after ${length} bytes`)
  }
  // Before the response.
  await Promise.all(Array.from({ length: 20 }, () => say(url, whole, { giveUpAfter: 1 })))
  t.notOk(events.some(({ reason }) => reason === 'internal_error'))
  t.ok(await signsIn(url), 'the process lives')
})
