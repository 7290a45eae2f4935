// Someone exhausts the service: a body without end, connections that break off. Node limits slow connections
// (`requestTimeout`). What a request costs in processor time: test/attacks/amplification.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { say, tokenForm, tokenRequest } from '../helpers/raw-requests.ts'

const whole = tokenRequest(`${tokenForm('c'.repeat(44))}`)

t.test('a body without end', async (t) => {
  const { url, events } = await startHost(t)
  const chunks = `1000\r\n${'a'.repeat(0x1000)}\r\n`.repeat(100)
  const endless = await say(url, tokenRequest('', ['Transfer-Encoding: chunked']) + chunks)
  t.strictSame([endless.statuses, endless.closed], [[400], true])
  t.match(events, [{ reason: 'body_unreadable' }])
})

t.test('connections that break off', async (t) => {
  const { url, events } = await startHost(t)
  for (const length of [1, 20, whole.indexOf('\r\n\r\n') + 2, whole.length - 70, whole.length - 1]) {
    const { closed } = await say(url, whole.slice(0, length), { end: true })
    t.ok(closed, `after ${length} bytes`)
  }
  t.notOk(events.some(({ reason }) => reason === 'internal_error'))
  events.length = 0
  // Before the response: as soon as the request has left.
  for (let number = 0; number < 20; number++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.end(whole, () => socket.destroy())
    await once(socket, 'close')
  }
  while (events.length < 20) await setImmediate()
  t.ok(events.every(({ reason }) => reason === 'code_unknown'))
})
