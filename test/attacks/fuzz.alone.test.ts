// Someone sends random requests to the three endpoints, over real sockets: requests that are almost right, and bytes
// that are not a request at all. No response is a 5xx, none leads to a strange place, no connection
// hangs, the process lives, its heap does not grow, and a user can still sign in. Many requests:
// FUZZ_REQUESTS=1000000; SEED replays a run.
// Alone: it measures the heap.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { neverIssued } from '../helpers/never-issued.ts'
import { seed } from '../helpers/seed.ts'
import { wire } from '../helpers/wire.ts'
import { BASIC, say } from '../helpers/raw-requests.ts'
import type { Conversation } from '../helpers/raw-requests.ts'
import { isLogin } from '../helpers/return-to.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2000)
const CHUNK = 250
/** Requests after which the process is warm. */
const WARM = 1000
const AT_ONCE = 16

// Placeholders of a valid code and token, which are filled in when the request is sent.
const CODE = '<code>'
const TOKEN = '<token>'

const weighted = <T>(...given: Array<[weight: number, arbitrary: fc.Arbitrary<T>]>): fc.Arbitrary<T> =>
  fc.oneof(...given.map(([weight, arbitrary]) => ({ weight, arbitrary })))
/** The usual value, but another one once in `times`. */
const mostly = <T>(times: number, usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  weighted([times - 1, fc.constant(usual)], [1, other])
/** The text with half characters replaced: what URLs can encode. */
const wellFormed = (text: string): string => Buffer.from(text).toString()
const latin1 = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString('latin1'))

const junk = weighted(
  [4, fc.constantFrom(
    '', ' ', '%', '%%', '%zz', '%00', '%0d%0a', '%ff', '%C0%80', '%ED%A0%80', '%F4%90%80%80', '+', '&', '=', '#', '?',
    ';', '\\', '"', "'", '<', '\u00ff', '[]', '[a]', '__proto__', 'constructor', '../', '//', 'null', 'undefined',
    'NaN', '-1', '1e999', 'true', '{}', '*', '\0', '\t', 'A'.repeat(3000)
  )],
  [2, fc.string({ maxLength: 20 })],
  [1, fc.string({ unit: 'binary', maxLength: 10 }).map((text) => encodeURIComponent(wellFormed(text)))],
  [1, latin1(20)]
)
const good: Record<string, string> = {
  client_id: PORTAL.clientId,
  redirect_uri: encodeURIComponent(PORTAL.redirectUri),
  response_type: 'code',
  state: 'xyz',
  scope: '',
  client_secret: encodeURIComponent(PORTAL.clientSecret),
  grant_type: 'authorization_code',
  code: CODE,
  code_verifier: 'v'.repeat(43),
  code_challenge: 'c'.repeat(43),
  code_challenge_method: 'S256',
  access_token: TOKEN
}
const name = weighted([12, fc.constantFrom(...Object.keys(good))], [1, junk])
const value = weighted([3, fc.constantFrom(...Object.values(good))], [2, junk])
const pair = fc.oneof(fc.tuple(name, value).map(([name, value]) => `${name}=${value}`), junk)

/** The parameters of a good request, some of them changed, left out, repeated or joined by others. */
const parameters = (...names: string[]): fc.Arbitrary<string> => fc.tuple(
  fc.tuple(...names.map((name) => weighted<string | null>(
    [12, fc.constant(`${name}=${good[name]}`)], [1, value.map((value) => `${name}=${value}`)], [1, fc.constant(null)]
  ))),
  weighted<string[]>([3, fc.constant([])], [2, fc.array(pair, { maxLength: 4 })]),
  mostly(21, '&', fc.constantFrom(';', '&&', '?', '&amp;', ','))
).map(([own, more, separator]) => [...own.filter((pair) => pair !== null), ...more].join(separator))

const inHeader = junk.map((text) => text.replaceAll(/[\r\n\0]/g, ''))
const header = fc.oneof(
  fc.constantFrom(
    `Authorization: Bearer ${TOKEN}`, `authorization: bEARER  ${TOKEN}`, `Authorization: ${BASIC}`, 'Accept: text/html',
    'Accept: application/json', 'Accept: */*;q=0', 'Content-Type: application/json',
    'Content-Type: application/x-www-form-urlencoded; charset=utf-16', 'Content-Type: multipart/form-data',
    'Content-Encoding: gzip', 'Transfer-Encoding: chunked', 'Expect: 100-continue', 'Expect: 200-ok', 'Upgrade: h2c',
    'Connection: Upgrade, HTTP2-Settings', 'Content-Length: 0', 'X-HTTP-Method-Override: DELETE',
    'X-Forwarded-Proto: javascript', 'Origin: null', 'Host: evil.example', 'X-User: alice', 'X-User: nobody'
  ),
  inHeader.map((text) => `Authorization: ${text}`),
  inHeader.map((text) => `Authorization: Bearer ${text}`),
  fc.base64String({ maxLength: 40 }).map((text) => `Authorization: Basic ${text}`),
  inHeader.map((text) => `Accept: ${text}`),
  inHeader.map((text) => `Content-Type: application/x-www-form-urlencoded${text}`),
  fc.tuple(fc.stringMatching(/^[a-z-]{1,12}$/), inHeader).map(([name, text]) => `${name}: ${text}`)
)

/** Two times of three with the header that makes the request a good one. */
const headersWith = (needed: string) =>
  fc.tuple(mostly<string[]>(3, [needed], fc.constant([])), fc.array(header, { maxLength: 3 })).map((all) => all.flat())

const otherMethods = fc.constantFrom(
  'GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY'
)
const otherPaths = (usual: string) => fc.constantFrom(
  `${usual}/`, `/${usual}`, usual.toUpperCase(), `http://evil.example${usual}`, `${usual}%00`,
  usual.replace('oauth', '%6fauth'), `/x/..${usual}`, `\\${usual}`, '*', ''
)

interface Parts { query: fc.Arbitrary<string>, headers: fc.Arbitrary<string[]>, body: fc.Arbitrary<string> }

const endpoint = (method: string, path: string, parts: Parts) => fc.record({
  method: mostly(16, method, otherMethods), path: mostly(16, path, otherPaths(path)), ...parts
})

/** A request that is almost right, by the grammar of the endpoint. */
const request = fc.oneof(
  endpoint('GET', '/oauth/authorize', {
    query: parameters('client_id', 'redirect_uri', 'response_type', 'state', 'scope'),
    headers: headersWith('X-User: alice'),
    body: fc.constant('')
  }),
  endpoint('POST', '/oauth/token', {
    query: mostly(10, '', pair),
    headers: headersWith('Content-Type: application/x-www-form-urlencoded'),
    body: parameters('client_id', 'client_secret', 'redirect_uri', 'grant_type', 'code')
  }),
  endpoint('GET', '/oauth/user', {
    query: mostly(10, '', pair), headers: headersWith(`Authorization: Bearer ${TOKEN}`), body: mostly(10, '', junk)
  })
).map(({ method, path, query, headers, body }) => {
  const escaped = query.replaceAll(/[^\x21-\x7e]/g, (character) => encodeURIComponent(wellFormed(character)))
  const line = `${method} ${path}${query === '' ? '' : '?'}${escaped} HTTP/1.1`
  return { head: [line, 'Host: partner.example', 'Connection: close', ...headers], body }
})

const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat(30),
  put: fc.oneof(latin1(8), fc.constantFrom(
    '\r\n', '\n', '\r', '\r\n\r\n', ' ', '\0', ':', 'HTTP/1.1', 'HTTP/9.9', 'HTTP/0.9', 'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n', '0\r\n\r\n', 'ffffffffffffffff\r\n'
  ))
})

/** Bytes: a request with text cut out or put in at some places, or random bytes. */
const bytes = weighted(
  [5, fc.tuple(request, fc.array(change, { minLength: 1, maxLength: 4 })).map(([{ head, body }, changes]) =>
    changes.reduce((text, { at, cut, put }) => {
      const place = Math.floor(at * text.length)
      return text.slice(0, place) + put + text.slice(place + cut)
    }, `${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`))],
  [1, latin1(300).map((text) => `${text}\r\n\r\n`)]
)

/** The text that is sent, and whether Node must be able to read it. */
interface Sent { text: string, isReadable: boolean }

/** The request as text, once codes and tokens are in it. */
function toText (head: string[], body: string): Sent {
  const isFramed = head.some((header) => /^(?:content-length|transfer-encoding|expect|upgrade)/i.test(header))
  const length = body === '' || isFramed ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
  const text = [...head, ...length, '', body].join('\r\n')
  return { text, isReadable: !isFramed && head.every((header) => /^[\t\x20-\x7e\x80-\xff]*$/.test(header)) }
}

/** What is wrong with the response; undefined where nothing is. */
function faultOf ({ text, statuses, closed }: Conversation, isReadable: boolean): string | undefined {
  const locations = [...text.matchAll(/^location: (.*)$/gim)].map(([, location = '']) => location)
  const isHome = (location: string) => location.startsWith(`${PORTAL.redirectUri}?`) || isLogin(location.trimEnd())
  if (!closed) return 'hangs'
  if (statuses.some((status) => status >= 500)) return 'a 5xx'
  if (isReadable && statuses.length === 0) return 'no response'
  return locations.every(isHome) ? undefined : 'leads away'
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes of heap in use after a garbage collection. */
function heap (): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

t.test(`${REQUESTS} requests`, { timeout: 0 }, async (t) => {
  t.comment(`SEED=${seed}`)
  const { url: redis, keyPrefix } = await someRedis(t)
  const outcomes = new Set<string>()
  const onEvent = ({ type, reason }: PartnerSsoEvent) => { outcomes.add(`${type} ${reason}`) }
  const host = await startHost(t, { redis, keyPrefix, loginPage: '/login', onEvent })
  const portal = wire(host.url)
  const statuses = new Set<number>()

  /** One of ten gets a good code and token: the others would only cost time. */
  const filling = async (sent: object, number: number): Promise<(text: string) => string> => {
    const wanted = number % 10 === 0 ? JSON.stringify(sent) : ''
    const code = wanted.includes(CODE) ? await portal.code() : neverIssued().code
    const token = wanted.includes(TOKEN) ? await portal.accessToken() : neverIssued().token
    return (text) => text.replaceAll(CODE, code).replaceAll(TOKEN, token)
  }
  const send = async ({ text, isReadable }: Sent) => {
    const conversation = await say(host.url, text, { end: !isReadable })
    for (const status of conversation.statuses) statuses.add(status)
    const fault = faultOf(conversation, isReadable)
    if (fault !== undefined) t.fail(`${fault}: SEED=${seed}, ${JSON.stringify([text, conversation.text])}`)
  }
  /** Some requests, and every third time bytes. */
  const sendChunk = async (chunk: number) => {
    const settings = { seed: seed + chunk, numRuns: CHUNK }
    const queue = chunk % 3 === 2
      ? fc.sample(bytes, settings).map((text) => ({ head: [text], body: null }))
      : fc.sample(request, settings)
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const fill = await filling(next, queue.length)
        const [head, body] = [next.head.map(fill), next.body]
        await send(body === null ? { text: head.join(), isReadable: false } : toText(head, fill(body)))
      }
    }))
  }

  let heapBefore = 0
  for (let chunk = 0; chunk * CHUNK < REQUESTS; chunk++) {
    await sendChunk(chunk)
    if ((chunk + 1) * CHUNK === WARM) heapBefore = heap()
  }
  const megabytes = (heap() - heapBefore) / 2 ** 20
  t.ok(megabytes < 8, `the heap has grown by ${megabytes.toFixed(1)} MB`)
  for (const status of [200, 302, 400, 401, 404]) t.ok(statuses.has(status), `some responses are ${status}`)
  t.ok(outcomes.size > 25, `${outcomes.size} kinds of outcome were reported`)
  for (const outcome of [
    'code_issued ok', 'token_issued ok', 'user_information_returned ok', 'login_required login_page'
  ]) t.ok(outcomes.has(outcome), outcome)
  t.notOk(outcomes.has('request_rejected internal_error'), 'nothing in the service was surprised')
  t.strictSame((await portal.user(await portal.accessToken('bob'))).json, recordOf('bob'), 'and a user can sign in')
})
