// Someone sends the three endpoints whatever comes to a machine's mind, over real sockets: requests that are almost
// right, and bytes that are no request at all. No answer is a 5xx, none leads to a strange place, no connection hangs,
// the process lives, its heap stays as it was, and a user can still sign in. Many requests: FUZZ_REQUESTS=1000000;
// SEED replays a run.
// Alone: it measures the heap.
import fc from 'fast-check'
import t from 'tap'
import { PORTAL, recordOf } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import { allReasons, startProcesses } from './helpers/processes.ts'
import { BASIC, say } from './helpers/raw.ts'
import { staysHere } from './helpers/return-to.ts'
import { rounds, seed, wellFormed } from './helpers/settings.ts'

const REQUESTS = rounds('FUZZ_REQUESTS', 4000)
const CHUNK = 500
const AT_ONCE = 16

// Stand for what is good at the moment of sending.
const CODE = '<code>'
const TOKEN = '<token>'

const junk = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '%',
      '%%',
      '%zz',
      '%00',
      '%0d%0a',
      '%ff',
      '%C0%80',
      '%ED%A0%80',
      '%F4%90%80%80',
      '+',
      '&',
      '=',
      '#',
      '?',
      ';',
      '\\',
      '"',
      "'",
      '<',
      '\u00ff',
      '[]',
      '[a]',
      '__proto__',
      'constructor',
      '../',
      '//',
      'null',
      'undefined',
      'NaN',
      '-1',
      '1e999',
      'true',
      '{}',
      '*',
      '\u0000',
      '\t',
      'A'.repeat(3000)
    )
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'binary', maxLength: 10 })
      .map((text) => encodeURIComponent(Buffer.from(text).toString()))
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')) }
)
const name = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      'client_id',
      'redirect_uri',
      'response_type',
      'state',
      'scope',
      'client_secret',
      'grant_type',
      'code',
      'code_verifier',
      'code_challenge',
      'code_challenge_method',
      'access_token'
    )
  },
  { weight: 1, arbitrary: junk }
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
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Object.values(good), TOKEN) },
  { weight: 2, arbitrary: junk }
)
const pair = fc.oneof(fc.tuple(name, value).map(([name, value]) => `${name}=${value}`), junk)

/** The parameters of a good request, some of them changed, left out, repeated or joined by others. */
const parameters = (names: string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.tuple(
        ...names.map((name) =>
          fc.oneof(
            { weight: 12, arbitrary: fc.constant(`${name}=${good[name]}`) },
            { weight: 1, arbitrary: value.map((value) => `${name}=${value}`) },
            { weight: 1, arbitrary: fc.constant(null) }
          )
        )
      ),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 2, arbitrary: fc.array(pair, { maxLength: 4 }) }
      ),
      fc.oneof(
        { weight: 20, arbitrary: fc.constant('&') },
        { weight: 1, arbitrary: fc.constantFrom(';', '&&', '?', '&amp;', ',') }
      )
    )
    .map(([own, more, separator]) => [...own.filter((pair) => pair !== null), ...more].join(separator))

const printable = junk.map((text) => text.replaceAll(/[\r\n\0]/g, ''))
const header = fc.oneof(
  fc.constantFrom(
    `Authorization: Bearer ${TOKEN}`,
    `authorization: bEARER  ${TOKEN}`,
    `Authorization: ${BASIC}`,
    'Accept: text/html',
    'Accept: application/json',
    'Accept: */*;q=0',
    'Content-Type: application/json',
    'Content-Type: application/x-www-form-urlencoded; charset=utf-16',
    'Content-Type: multipart/form-data',
    'Content-Encoding: gzip',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
    'Expect: 200-ok',
    'Upgrade: h2c',
    'Connection: Upgrade, HTTP2-Settings',
    'Content-Length: 0',
    'X-HTTP-Method-Override: DELETE',
    'X-Forwarded-Proto: javascript',
    'Origin: null',
    'Host: evil.example',
    'X-User: alice',
    'X-User: nobody'
  ),
  printable.map((text) => `Authorization: ${text}`),
  printable.map((text) => `Authorization: Bearer ${text}`),
  fc.base64String({ maxLength: 40 }).map((text) => `Authorization: Basic ${text}`),
  printable.map((text) => `Accept: ${text}`),
  printable.map((text) => `Content-Type: application/x-www-form-urlencoded${text}`),
  printable.map((text) => `Cookie: ${text}`),
  fc.tuple(fc.stringMatching(/^[a-z-]{1,12}$/), printable).map(([name, text]) => `${name}: ${text}`)
)

const method = (usual: string) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constant(usual) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'GET',
        'POST',
        'HEAD',
        'OPTIONS',
        'PUT',
        'DELETE',
        'PATCH',
        'TRACE',
        'PROPFIND',
        'QUERY'
      )
    }
  )
const path = (usual: string) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constant(usual) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        `${usual}/`,
        `/${usual}`,
        usual.toUpperCase(),
        `http://evil.example${usual}`,
        `${usual}%00`,
        usual.replace('oauth', '%6fauth'),
        `/x/..${usual}`,
        `\\${usual}`,
        '*',
        ''
      )
    }
  )

/** A request that is almost right, by the grammar of the endpoint. */
const request = fc
  .oneof(
    fc.record({
      method: method('GET'),
      path: path('/oauth/authorize'),
      query: parameters(['client_id', 'redirect_uri', 'response_type', 'state', 'scope']),
      headers: fc
        .tuple(fc.constantFrom(['X-User: alice'], ['X-User: alice'], []), fc.array(header, { maxLength: 3 }))
        .map(([user, headers]) => [...user, ...headers]),
      body: fc.constant('')
    }),
    fc.record({
      method: method('POST'),
      path: path('/oauth/token'),
      query: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: pair }),
      headers: fc
        .array(header, { maxLength: 2 })
        .map((headers) => ['Content-Type: application/x-www-form-urlencoded', ...headers]),
      body: parameters(['client_id', 'client_secret', 'redirect_uri', 'grant_type', 'code'])
    }),
    fc.record({
      method: method('GET'),
      path: path('/oauth/user'),
      query: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: pair }),
      headers: fc.array(header, { minLength: 1, maxLength: 3 }),
      body: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: junk })
    })
  )
  .map(({ method, path, query, headers, body }) => {
    // The body's length in the end, once codes and tokens are in it, is told by the sender.
    const escaped = query.replaceAll(/[^\x21-\x7e]/g, (character) => encodeURIComponent(wellFormed(character)))
    const target = `${path}${query === '' ? '' : '?'}${escaped}`
    return {
      head: [`${method} ${target} HTTP/1.1`, 'Host: partner.example', 'Connection: close', ...headers],
      body
    }
  })

/** Bytes: a request that was cut, doubled, turned or overwritten at some places, or nothing that ever was one. */
const bytes = fc
  .oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(
        request,
        fc.array(
          fc.record({
            at: fc.double({ min: 0, max: 1, noNaN: true }),
            cut: fc.nat(30),
            put: fc.oneof(
              fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
              fc.constantFrom(
                '\r\n',
                '\n',
                '\r',
                '\r\n\r\n',
                ' ',
                '\0',
                ':',
                'HTTP/1.1',
                'HTTP/9.9',
                'HTTP/0.9',
                'Content-Length: 5\r\n',
                'Transfer-Encoding: chunked\r\n',
                '0\r\n\r\n',
                'ffffffffffffffff\r\n'
              )
            )
          }),
          { minLength: 1, maxLength: 4 }
        )
      )
    },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc
          .uint8Array({ maxLength: 300 })
          .map((bytes) => ({ head: [Buffer.from(bytes).toString('latin1')], body: '' })),
        fc.constant([])
      )
    }
  )
  .map(([{ head, body }, changes]) => {
    let text = `${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    for (const { at, cut, put } of changes) {
      const place = Math.floor(at * text.length)
      text = text.slice(0, place) + put + text.slice(place + cut)
    }
    return text
  })

/** The login page, told to come back to a path of this site. */
function isLogin (location: string): boolean {
  const returnTo = /^\/login\?return_to=([\x21-\x25\x27-\x7e]+)$/.exec(location.trimEnd())?.[1]
  return returnTo !== undefined && staysHere(decodeURIComponent(returnTo))
}

await t.test(`${REQUESTS} requests`, { timeout: 0 }, async (t) => {
  t.comment(`SEED=${seed}`)
  const { url: redis, keyPrefix } = await someRedis(t)
  const [host] = await startProcesses(t, 1, { redis, keyPrefix, storeTimeout: 30_000, loginPage: '/login' })
  if (host === undefined) throw new Error('no host')
  const portal = wire(host.url)
  const statuses: Record<string, number> = {}
  let heapBefore = 0
  let sent = 0
  let failed = 0

  const send = async (text: string, wellFormed: boolean) => {
    const conversation = await say(host.url, text, { end: !wellFormed })
    sent++
    for (const status of conversation.statuses) statuses[status] = (statuses[status] ?? 0) + 1
    const locations = [...conversation.text.matchAll(/^location: (.*)$/gim)].map(([, location]) => location as string)
    const fault = !conversation.closed
      ? 'hangs'
      : conversation.statuses.some((status) => status >= 500)
        ? 'a 5xx'
        : wellFormed && conversation.statuses.length === 0
          ? 'no answer'
          : locations.every((location) => location.startsWith(`${PORTAL.redirectUri}?`) || isLogin(location))
            ? undefined
            : 'leads away'
    if (fault === undefined || failed++ >= 5) return
    t.fail(`${fault}: SEED=${seed}, ${JSON.stringify(text)}: ${JSON.stringify(conversation.text)}`)
  }

  for (let chunk = 0; chunk * CHUNK < REQUESTS; chunk++) {
    const raw = chunk % 3 === 2
    const settings = { seed: seed + chunk, numRuns: Math.min(CHUNK, REQUESTS - chunk * CHUNK) }
    const texts = raw
      ? fc.sample(bytes, settings)
      : fc.sample(request, settings).map(({ head, body }) => ({ head, body }))
    const queue = [...texts]
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const wanted = JSON.stringify(next)
        // One of ten gets a good code or token: the others would only cost time.
        const code = wanted.includes(CODE) && queue.length % 10 === 0 ? await portal.code() : 'c'.repeat(44)
        const token = wanted.includes(TOKEN) && queue.length % 10 === 0 ? await portal.accessToken() : 't'.repeat(63)
        const fill = (text: string) => text.replaceAll(CODE, code).replaceAll(TOKEN, token)
        if (typeof next === 'string') await send(fill(next), false)
        else {
          const body = fill(next.body)
          const framed = next.head.some((header) =>
            /^(?:content-length|transfer-encoding|expect|upgrade)/i.test(header)
          )
          const length = body === '' || framed ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
          await send(
            `${[...next.head.map(fill), ...length].join('\r\n')}\r\n\r\n${body}`,
            !framed && next.head.every((header) => /^[\t\x20-\x7e\x80-\xff]*$/.test(header))
          )
        }
      }
    }))
    // The first chunks warm the process up.
    if (chunk === 4) heapBefore = await host.heap()
  }

  t.equal(failed, 0, 'none was answered by a 5xx, led away, or hung')
  t.ok(host.alive(), 'the process lives')
  const heapAfter = await host.heap()
  const [before, after] = [heapBefore, heapAfter].map((bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`)
  t.comment(`${sent} requests; heap ${before} after ${5 * CHUNK}, ${after} at the end; ` +
    `statuses ${JSON.stringify(statuses)}`)
  t.ok(heapAfter - heapBefore < 8 * 2 ** 20, 'the heap stays as it was')
  for (const status of [200, 302, 400, 401, 404]) t.ok((statuses[status] ?? 0) > 0, `some were answered ${status}`)
  const reasons = await allReasons([host])
  t.comment(JSON.stringify(reasons))
  t.ok(Object.keys(reasons).length > 25, `${Object.keys(reasons).length} kinds of outcome were reported`)
  for (const reason of [
    'code_issued ok',
    'token_issued ok',
    'user_information_returned ok',
    'login_required login_page'
  ]) { t.ok((reasons[reason] ?? 0) > 0, reason) }
  t.notOk(
    Object.keys(reasons).some((reason) => reason.endsWith('internal_error')),
    'nothing in the service was surprised'
  )
  t.strictSame((await portal.user(await portal.accessToken('bob'))).json, recordOf('bob'), 'and a user can sign in')
})
