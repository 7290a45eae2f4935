// Someone makes the app send much, or fail, by a request that is only long: a state, a body. What goes into a header
// stays small, and a body that is too large is refused as any other bad request is, not reported as a failure.
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import { sessionOf, startApp } from '../app.ts'
import { authorizePath, BASIC, inProcess, request, say, tokenForm } from '../wire.ts'
import { until } from '../helpers/until.ts'

/** The headers of a response that may repeat a request, where its state is sent byte for byte: `inject` escapes it. */
async function sent (url: string, state: string, headers: string[] = []) {
  const { text } = await say(url, request(`GET ${authorizePath(state)}`, headers))
  const location = /^location: (.*)\r$/im.exec(text)?.[1] ?? ''
  const { searchParams: redirect } = new URL(location, url)
  return { location, redirect, hasCookie: /^set-cookie:/im.test(text) }
}

const STATE_OFFSET = authorizePath('').length

t.test('nobody is logged in: the login leads back to 4,000 characters and no more', async (t) => {
  const { app, url, events } = await startApp(t)
  const at = (state: string) => inProcess(app).send(authorizePath(state))
  const longest = await at('s'.repeat(4000 - STATE_OFFSET))
  t.match(longest.headers.get('location'), /^\/login\?return_to=/)
  t.equal(longest.redirect.get('return_to')?.length, 4000)

  const longer = await at('s'.repeat(4001 - STATE_OFFSET))
  t.strictSame([longer.redirect.get('error'), events.at(-1)?.reason], ['invalid_request', 'parameters_excessive'])
  t.equal(longer.redirect.get('state')?.length, 4001 - STATE_OFFSET, 'the portal can match its state')
  t.equal(longer.headers.get('set-cookie'), null)

  // Each of these is three characters as it is sent back.
  const escaped = await sent(url, '<'.repeat(1400))
  t.strictSame([escaped.redirect.get('error'), events.at(-1)?.reason], ['invalid_request', 'parameters_excessive'])
})

t.test('a state that would be longer than any that is received is not sent back', async (t) => {
  const { url, events } = await startApp(t)
  const asAda = [`Cookie: ${sessionOf('ada')}`]
  // As they are sent back, three characters each.
  for (const [person, headers] of [['ada', asAda], ['nobody', []]] as const) {
    const { location, redirect, hasCookie } = await sent(url, '<'.repeat(5462), [...headers])
    const found = [redirect.get('error'), events.at(-1)?.reason]
    t.strictSame(found, ['invalid_request', 'parameters_excessive'], person)
    t.ok(location.length < 500, `${person}: ${location.length}`)
    t.notOk(hasCookie, person)
  }
  const most = await sent(url, '<'.repeat(5461), asAda)
  t.equal(most.redirect.get('state'), '<'.repeat(5461))
})

t.test('a cookie that browsers would not keep is left out, and removes the one of an earlier request', async (t) => {
  const { app } = await startApp(t)
  const at = (state: string, cookie = '') => inProcess(app).send(authorizePath(state), { headers: { cookie } })
  // Of the cookie, each slash of the state is three characters.
  const state = '/'.repeat(1400)
  const response = await at(state)
  t.ok(response.redirect.has('return_to'), 'the way of the address remains')
  t.equal(response.headers.get('set-cookie'), null)
  const earlier = (await at('earlier')).headers.get('set-cookie')?.split(';')[0] ?? ''
  const removed = (await at(state, earlier)).headers.get('set-cookie')
  t.match(removed, /^partner-sso-return=; Max-Age=0;/)
})

t.test('the longest cookie has 4,096 bytes, with its name', async (t) => {
  const { app } = await startApp(t, { server: { trustProxy: true } })
  const slashes = '/'.repeat(100)
  for (const [protocol, name] of [['http', 'partner-sso-return'], ['https', '__Host-partner-sso-return']] as const) {
    const at = async (state: string) => (await inProcess(app).send(authorizePath(state), {
      headers: { 'x-forwarded-proto': protocol }
    })).headers.get('set-cookie')
    const room = 4096 - name.length - encodeURIComponent(authorizePath(slashes)).length
    const longest = await at(slashes + 's'.repeat(room))
    t.match(longest, `${name}=%2Foauth`, protocol)
    t.equal(longest?.split(';')[0]?.length, 4096 + '='.length, protocol)
    t.equal(await at(slashes + 's'.repeat(room + 1)), null, `${protocol}: one more`)
  }
})

const FORM = 'Content-Type: application/x-www-form-urlencoded'
const LINE = 'POST /oauth/token'
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`

t.test('a body that is too large, declared or not', async (t) => {
  const failures: unknown[] = []
  const { url, events, app } = await startApp(t, {
    prepare: (app) => app.addHook('onError', async (_request, _reply, error) => { failures.push(error) })
  })
  const form = String(tokenForm(await inProcess(app).code(), false))
  const padded = `${form}&padding=${'x'.repeat(16_384)}`
  for (const [name, headers, body] of [
    ['declared', [], padded],
    ['chunked', ['Transfer-Encoding: chunked'], chunked(padded)]
  ] as const) {
    const { text, statuses } = await say(url, request(LINE, [FORM, `Authorization: ${BASIC}`, ...headers], body))
    t.strictSame([statuses, events.at(-1)?.reason], [[400], 'body_unreadable'], name)
    t.match(text, '"error":"invalid_request"', name)
  }
  t.strictSame(failures, [], 'the hooks for failures are not called')
  const headers = [FORM, `Authorization: ${BASIC}`, 'Transfer-Encoding: chunked']
  const { statuses } = await say(url, request(LINE, headers, chunked(form)))
  t.strictSame(statuses, [200], 'a small body of undeclared length is read')
})

t.test('a hook of the host makes text of a body of undeclared length: it is read, and the process lives', async (t) => {
  const { url, app } = await startApp(t, { options: {
    routeOptions: { preParsing: async (_request, _reply, payload) => payload.setEncoding('utf8') }
  } })
  const form = String(tokenForm(await inProcess(app).code(), false))
  const headers = [FORM, `Authorization: ${BASIC}`, 'Transfer-Encoding: chunked']
  t.strictSame((await say(url, request(LINE, headers, chunked(form)))).statuses, [200])
})

t.test('a portal that hangs up in the middle of a body of undeclared length', async (t) => {
  const failures: unknown[] = []
  const { url, events } = await startApp(t, {
    prepare: (app) => app.addHook('onError', async (_request, _reply, error) => { failures.push(error) })
  })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = request(LINE, [FORM, 'Transfer-Encoding: chunked'])
  socket.write(`${head}4\r\ncode\r\n`, () => socket.destroy())
  await until(() => events.length === 1)
  t.match(events, [{ type: 'request_rejected', reason: 'body_unreadable' }])
  t.strictSame(failures, [], 'it is no failure of the app')
})

t.test('a hook of the host makes a body of another length than the request has declared', async (t) => {
  const { app, events } = await startApp(t, { options: {
    routeOptions: { preParsing: async () => Readable.from('code=x', { objectMode: false }) }
  } })
  const { status, json } = await inProcess(app).token({ code: 'x' })
  t.strictSame([status, json.error, events.at(-1)?.reason], [400, 'invalid_request', 'body_unreadable'])
})
