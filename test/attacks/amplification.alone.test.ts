// Someone sends requests that look small and cost much: characters that are escaped one by one, parameters and media
// types without number, escapes that cannot be decoded. Each costs at most ten times the CPU time of a request of the
// same endpoint and size that has nothing special in it, measured in the same run. What Fastify itself does with the
// request before any route runs is not counted: its query parser alone takes up to 15 times as long for plus signs.
// Alone: it measures processor time.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { startHost } from '../helpers/host.ts'
import { authorizePath, tokenForm } from '../helpers/raw-requests.ts'

/** How many times the processor time of a usual request another one may take. */
const COST_LIMIT = 10
/** Bytes of a hostile text: nearly as many as Node accepts in the head of a request. */
const SIZE = 14_000
/** Requests that are measured together. */
const AT_ONCE = 5
/** Measurements of a request; the least counts, as nothing makes a request cheaper than it is. */
const MOST_REPEATS = 20
/** Comparisons of a request that seemed too expensive: on a busy machine each measurement is too long now and then. */
const ROUNDS = 10

const distinct = Array.from({ length: SIZE / 3 }, (_, index) => index.toString(36)).join('&')
const ALPHABETS = [
  '<', '<a', '"', '%', '%%', '&', '&%', '&a', '&a=', '&%41', '&%zz', '&%zz=%zz', '&+', '&%C3%A9', '=', '=&', '+', '%41',
  '%2B', '%25', '%3C', '%3Ca', '%zz', '%ff', '%C3%A9', '%F0%9F%98%80', '%00', '\xe9', '\x80', '\xff<', '?', '/', '//',
  '\\', '/../', ':', ';', ',', ', ', '/,', 'a/b,', '*/*,', 'text/*;q=0.1,', 'text/html;a="', ';q=', '"\\', '{', '[',
  '[]=', '.', '=&=', '&client_id=', '&state=a', '&__proto__=', 'Zm9v', '====', 'Bearer ', 'Basic ', 'https://', 'a@',
  '%2525'
]

const repeated = (alphabet: string): string => alphabet.repeat(Math.ceil(SIZE / alphabet.length)).slice(0, SIZE)
// Malformed by a % alone, not by an escape that is cut off.
const texts = [
  ...ALPHABETS.map(repeated), `${repeated('%41').slice(0, -4)}%`, `%${repeated('%41')}`, distinct, `%&${distinct}`
]

/** The bytes of a request; those of `text` as they are, one for each character. */
function bytes (method: string, target: string, headers: string[], body = ''): Buffer {
  const length = method === 'POST' ? [`Content-Length: ${body.length}`] : []
  const head = [`${method} ${target} HTTP/1.1`, 'Host: a.example', ...headers, ...length]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1')
}

const USER = 'X-User: alice'
const FORM = 'Content-Type: application/x-www-form-urlencoded'
/** A request target: a space would end it. */
const target = (path: string, query: string) => `${path}?${query.replaceAll(' ', '_')}`
const authorize = (query: string, ...headers: string[]) => bytes('GET', target('/oauth/authorize', query), headers)
const token = (body: string, query = '', ...headers: string[]) =>
  bytes('POST', target('/oauth/token', query), [FORM, ...headers], body)
const user = (query: string, ...headers: string[]) => bytes('GET', target('/oauth/user', query), headers)

const query = authorizePath('a').replace(/^.*\?/, '')
const form = String(tokenForm('a'))
const withValue = (parameters: string, name: string, text: string) =>
  parameters.replace(RegExp(`(?<=\\b${name}=)[^&]*`), () => text)
const padding = 'a'.repeat(SIZE)

/** For each endpoint a plain request, and the requests that have a text in some place. */
const places: Record<string, { benign: Buffer, hostile: Record<string, (text: string) => Buffer> }> = {
  authorize: {
    benign: authorize(query, USER, `X-Padding: ${padding}`),
    hostile: {
      'the state': (text) => authorize(withValue(query, 'state', text), USER),
      'the state, without a login': (text) => authorize(withValue(query, 'state', text)),
      'the whole query': (text) => authorize(text, USER),
      'beside good parameters': (text) => authorize(`${query}&${text}`, USER),
      'the redirect_uri': (text) => authorize(withValue(query, 'redirect_uri', text), USER),
      'the client_id': (text) => authorize(withValue(query, 'client_id', text), USER),
      'the code_challenge': (text) => authorize(`${query}&code_challenge=${text}`, USER),
      'the Accept header': (text) => authorize('', `Accept: ${text}`)
    }
  },
  token: {
    benign: token(`${form}&padding=${padding}`),
    hostile: {
      'the whole body': (text) => token(text),
      'beside good parameters': (text) => token(`${form}&${text}`),
      'the code': (text) => token(withValue(form, 'code', text)),
      'the redirect_uri': (text) => token(withValue(form, 'redirect_uri', text)),
      'the client_secret': (text) => token(withValue(form, 'client_secret', text)),
      'the query': (text) => token(form, text),
      'the Authorization header': (text) => token(form, '', `Authorization: Basic ${text}`),
      'credentials of HTTP Basic': (text) => token(form, '',
        `Authorization: Basic ${Buffer.from(text.slice(0, SIZE / 2), 'latin1').toString('base64')}`)
    }
  },
  user: {
    benign: user('', `Authorization: Bearer ${padding}`),
    hostile: {
      'the token': (text) => user('', `Authorization: Bearer ${text}`),
      'the Authorization header': (text) => user('', `Authorization: ${text}`),
      'the query': (text) => user(text)
    }
  }
}

/** The CPU time that a server takes for these requests, in microseconds. */
type Meter = (request: Buffer) => Promise<number>

function meterOf (t: Test, port: number): Meter {
  let socket: Socket | undefined
  t.teardown(() => socket?.destroy())
  return async (request) => {
    // Node closes a connection when it cannot read the request.
    if (socket?.writable !== true) {
      socket = connect(port, '127.0.0.1').setNoDelay()
      await once(socket, 'connect')
    }
    const before = process.cpuUsage()
    await sent(socket, request)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
}

async function least (meter: Meter, request: Buffer): Promise<number> {
  let least = Infinity
  for (let repeat = 0; repeat < MOST_REPEATS; repeat++) least = Math.min(least, await meter(request))
  return least
}

/** Sends the request several times, one after the other. Resolves when each has its response, or Node has closed. */
async function sent (socket: Socket, request: Buffer): Promise<void> {
  let responses = 0
  await new Promise<void>((resolve) => {
    const count = (data: Buffer): void => {
      responses += data.toString('latin1').split('HTTP/1.1 ').length - 1
      if (responses === AT_ONCE) settle()
    }
    const settle = (): void => {
      socket.off('data', count).off('close', settle).off('error', settle)
      resolve()
    }
    socket.on('data', count).on('close', settle).on('error', settle)
    socket.write(Buffer.concat(Array.from({ length: AT_ONCE }, () => request)))
  })
}

/** Fails when the request is too expensive each time that it is compared with one that costs so much at least. */
async function isCheap (
  t: Test, meter: Meter, name: string, request: Buffer, benign: Buffer, usual: number
): Promise<void> {
  for (let repeat = 0; repeat < MOST_REPEATS; repeat++) {
    if (await meter(request) <= COST_LIMIT * usual) return
  }
  let ratio = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await least(meter, request) - await least(meter, toBareRoute(request))
    ratio = Math.min(ratio, ours / await least(meter, benign))
    if (ratio <= COST_LIMIT) return
  }
  t.fail(`${name}: ${ratio.toFixed(1)} times a benign request`)
}

/** A route of the host that does nothing. */
const BARE = '/bare'

/** The same request to a route that does nothing, for what Fastify itself does with it. */
const toBareRoute = (request: Buffer): Buffer =>
  Buffer.from(request.toString('latin1').replace(/\/oauth\/\w+/, BARE), 'latin1')

const loggers = { 'without a logger': false, 'with a logger': { stream: { write: () => {} } } }

for (const [logging, logger] of Object.entries(loggers)) {
  for (const [endpoint, { benign, hostile }] of Object.entries(places)) {
    t.test(`${endpoint}, ${logging}`, async (t) => {
      const { url } = await startHost(t, { loginPage: '/login' }, {
        server: { logger },
        prepare: (app) => { app.get(BARE, (_request, reply) => reply.send('')) }
      })
      const meter = meterOf(t, Number(new URL(url).port))
      await least(meter, benign)
      const usual = await least(meter, benign)
      for (const [place, build] of Object.entries(hostile)) {
        // A log line repeats the URL and nothing else of the request.
        if (logger !== false && !/query|without a login/.test(place)) continue
        for (const text of texts) {
          await isCheap(t, meter, `${place}: ${JSON.stringify(text.slice(0, 12))}`, build(text), benign, usual)
        }
        t.pass(`${place}: ${texts.length} texts`)
      }
    })
  }
}
