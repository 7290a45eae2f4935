// Someone wears the service down: a body without end, connections that break off. Slow connections are Node's matter
// (`requestTimeout`). What a request costs in processor time: test/attacks/amplification.
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { say, tokenForm, tokenRequest } from './helpers/raw.ts'
import { CODE } from './helpers/settings.ts'

const whole = tokenRequest(`${tokenForm('c'.repeat(CODE))}`)

t.test('a body without end', async (t) => {
  const { url, events } = await startHost(t)
  const chunks = Array.from({ length: 100 }, () => `1000\r\n${'a'.repeat(0x1000)}\r\n`)
  const endless = await say(url, [tokenRequest('', ['Transfer-Encoding: chunked']), ...chunks])
  t.strictSame([endless.statuses, endless.closed], [[400], true])
  t.match(events, [{ reason: 'body_unreadable' }])
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
  t.ok(await wire(url).accessToken(), 'the process lives')
})
