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
import { sessionOf, startApp } from '../app.ts'
import { authorizePath, tokenForm } from '../wire.ts'

/** How many times the processor time of a usual request another one may take. */
const COST_LIMIT = 10
/** Bytes of a hostile text: nearly as many as Node accepts in the head of a request. */
const SIZE = 14_000
/** Requests that are measured together. */
const TIMES = 5
/** Measurements of a request; the least counts, as nothing makes a request cheaper than it is. */
const MOST_REPEATS = 20
/** Comparisons of a request that seemed too expensive: on a busy machine each measurement is too long now and then. */
const ROUNDS = 10

const distinct = Array.from({ length: SIZE / 3 }, (_, index) => index.toString(36)).join('&')
/** Cookies without number, none of which can be decoded. */
const brokenCookies = distinct.replaceAll('&', '=%;').slice(0, SIZE)
/** One for each thing that lib does with a character: splits at it, decodes, escapes, negotiates, masks, compares. */
const ALPHABETS = [
  '<', '%', '&', '&a=', '&%zz', '+', '%41', '%zz', '%C3%A9', '\xe9', '//', '/../', ':', ';', '#',
  'a/b,', 'text/*;q=0.1,', 'text/html;a="', '====', 'Bearer '
]
const repeated = (alphabet: string): string => alphabet.repeat(Math.ceil(SIZE / alphabet.length)).slice(0, SIZE)
// Malformed by a % alone, not by an escape that is cut off.
const texts = [...ALPHABETS.map(repeated), `%${repeated('%41')}`, distinct, brokenCookies]

/** The bytes of a request; those of `text` as they are, one for each character. */
function bytes (method: string, target: string, headers: string[], body = ''): Buffer {
  const length = method === 'POST' ? [`Content-Length: ${body.length}`] : []
  const head = [`${method} ${target} HTTP/1.1`, 'Host: a.example', ...headers, ...length]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1')
}

const USER = `Cookie: ${sessionOf('ada')}`
const FORM = 'Content-Type: application/x-www-form-urlencoded'
/** A request target: a space would end it. */
const target = (path: string, query: string) => `${path}?${query.replaceAll(' ', '_')}`
const authorize = (query: string, ...headers: string[]) => bytes('GET', target('/oauth/authorize', query), headers)
const token = (body: string, query = '', ...headers: string[]) =>
  bytes('POST', target('/oauth/token', query), [FORM, ...headers], body)
const login = (query: string, ...headers: string[]) => bytes('GET', target('/login', query), headers)
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
      'the state': (text) => authorize(withValue(query, 'state', text)),
      'the whole query': (text) => authorize(text, USER),
      'the redirect_uri': (text) => authorize(withValue(query, 'redirect_uri', text), USER),
      'the Accept header': (text) => authorize('', `Accept: ${text}`),
      'the Cookie header': (text) => authorize(query, USER, `Cookie: ${text}`)
    }
  },
  token: {
    benign: token(`${form}&padding=${padding}`),
    hostile: {
      'the whole body': (text) => token(text),
      'the redirect_uri': (text) => token(withValue(form, 'redirect_uri', text)),
      'the query': (text) => token(form, text),
      'credentials of HTTP Basic': (text) => token(form, '',
        `Authorization: Basic ${Buffer.from(text.slice(0, SIZE / 2), 'latin1').toString('base64')}`)
    }
  },
  returnTo: {
    benign: login('', `X-Padding: ${padding}`),
    hostile: {
      return_to: (text) => login(`return_to=${text}`),
      'the Cookie header': (text) => login('', `Cookie: ${text}`)
    }
  },
  user: {
    benign: user('', `Authorization: Bearer ${padding}`),
    hostile: {
      'the Authorization header': (text) => user('', `Authorization: ${text}`),
      'the token': (text) => user('', `Authorization: Bearer ${text}`)
    }
  }
}

/** Sends the request several times, one after the other. Node closes a connection when it cannot read the request. */
async function sent (socket: Socket, request: Buffer): Promise<void> {
  for (let count = 0; count < TIMES && socket.writable; count++) {
    socket.write(request)
    await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  }
}

/** The least CPU time that a server takes for the request, in microseconds. */
type Meter = (request: Buffer, repeats?: number) => Promise<number>

function meterOf (t: Test, port: number): Meter {
  let socket: Socket | undefined
  t.teardown(() => socket?.destroy())
  return async (request, repeats = MOST_REPEATS) => {
    let least = Infinity
    for (let repeat = 0; repeat < repeats; repeat++) {
      if (socket?.writable !== true) {
        socket = connect(port, '127.0.0.1').setNoDelay().setMaxListeners(0).on('error', () => {})
        await once(socket, 'connect')
      }
      const before = process.cpuUsage()
      await sent(socket, request)
      const { user, system } = process.cpuUsage(before)
      least = Math.min(least, user + system)
    }
    return least
  }
}

/** A route of the host that does nothing: what Fastify itself does with a request. */
const BARE = '/bare'

/** How many times the cost of the benign request the other one takes; it is compared again while it seems too much. */
async function ratioOf (meter: Meter, request: Buffer, benign: Buffer, usual: number): Promise<number> {
  if (await meter(request, 1) <= COST_LIMIT * usual) return 1
  const bare = Buffer.from(request.toString('latin1').replace(/\/oauth\/\w+|\/login/, BARE), 'latin1')
  let ratio = Infinity
  for (let round = 0; round < ROUNDS && ratio > COST_LIMIT; round++) {
    ratio = Math.min(ratio, (await meter(request) - await meter(bare)) / await meter(benign))
  }
  return ratio
}

const logger = { stream: { write: () => {} } }

for (const [endpoint, { benign, hostile }] of Object.entries(places)) {
  t.test(endpoint, async (t) => {
    const { url } = await startApp(t, {
      server: { logger },
      prepare: (app) => { app.get(BARE, (_request, reply) => reply.send('')) },
      loginPage: (request, reply) => reply.send(request.server.partnerSso.returnTo(request, reply))
    })
    const meter = meterOf(t, Number(new URL(url).port))
    await meter(benign)
    const usual = await meter(benign)
    for (const [place, build] of Object.entries(hostile)) {
      for (const text of texts) {
        const ratio = await ratioOf(meter, build(text), benign, usual)
        t.ok(ratio <= COST_LIMIT, `${place}: ${JSON.stringify(text.slice(0, 12))}: ${ratio.toFixed(1)} times`)
      }
    }
  })
}
