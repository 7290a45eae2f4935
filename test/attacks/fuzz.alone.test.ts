// Someone sends random requests that are almost right to the three endpoints, over real sockets. No response is a 5xx,
// none leads to a strange place, no connection hangs, and a user can still sign in. Bytes that are not HTTP: Node
// refuses them. Many requests: FUZZ_REQUESTS=1000000; SEED replays a run.
// Alone: it takes some seconds.
import fc from 'fast-check'
import t from 'tap'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { PORTAL, RECORDS, sessionOf, startApp } from '../app.ts'
import { neverIssued } from '../helpers/never-issued.ts'
import { BASIC, request, say, wire } from '../wire.ts'
import type { Conversation } from '../wire.ts'
import { isLogin } from './return-to.ts'
import { seed } from '../helpers/seed.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 1000)
const CHUNK = 250
const AT_ONCE = 16

// Never issued; one of ten requests gets a good code and token instead, when it is sent.
const { code: CODE, token: TOKEN } = neverIssued()

/** The usual value, but another one once in `times`. */
const mostly = <T>(times: number, usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })

const junk = fc.oneof(
  fc.constantFrom('', '%', '%zz', '%00', '%ff', '+', '&', '=', '#', '?', ';', '"', '[]', '__proto__', '//', '\t'),
  fc.constant('A'.repeat(3000)),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map(encodeURIComponent),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
)
const good: Record<string, string> = {
  client_id: PORTAL.clientId,
  redirect_uri: encodeURIComponent(PORTAL.redirectUri),
  response_type: 'code',
  state: 'xyz',
  client_secret: encodeURIComponent(PORTAL.clientSecret),
  grant_type: 'authorization_code',
  code: CODE,
  code_verifier: 'v'.repeat(43),
  code_challenge: 'c'.repeat(43),
  code_challenge_method: 'S256'
}
const name = fc.oneof(fc.constantFrom(...Object.keys(good)), junk)
const value = fc.oneof(fc.constantFrom(...Object.values(good)), junk)
const pair = fc.tuple(name, value).map((both) => both.join('='))

/** The parameters of a good request, some of them changed, left out, repeated or joined by others. */
const parameters = (...names: string[]): fc.Arbitrary<string> => fc.tuple(
  fc.tuple(...names.map((name) => mostly(12, `${name}=${good[name]}`, fc.oneof(pair, fc.constant(''))))),
  mostly(2, [], fc.array(pair, { maxLength: 3 }))
).map((pairs) => pairs.flat().join('&'))

const FORM = 'Content-Type: application/x-www-form-urlencoded'
const header = fc.oneof(
  fc.constantFrom(
    `Authorization: Bearer ${TOKEN}`,
    `Authorization: ${BASIC}`,
    'Accept: text/html',
    'Content-Type: application/json',
    'Content-Encoding: gzip',
    `Cookie: ${sessionOf('ada')}`,
    `Cookie: ${sessionOf('eve')}`
  ),
  junk.map((text) => `Authorization: Basic ${text.replaceAll(/[\r\n\0]/g, '')}`)
)

const escaped = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character))

/** A request by the grammar of its endpoint, which mostly has the header that makes it a good one. */
const almost = (text: fc.Arbitrary<string>, needed: string, build: (text: string, headers: string[]) => string) =>
  fc.tuple(text, mostly<string[]>(3, [needed], fc.constant([])), fc.array(header, { maxLength: 2 }))
    .map(([text, needed, more]) => build(text, [...needed, ...more]))

const almostRight = fc.oneof(
  almost(
    parameters('client_id', 'redirect_uri', 'response_type', 'state'),
    `Cookie: ${sessionOf('ada')}`,
    (query, headers) => request(`GET /oauth/authorize?${escaped(query)}`, headers)
  ),
  almost(
    parameters('client_id', 'client_secret', 'redirect_uri', 'grant_type', 'code'),
    FORM,
    (body, headers) => request('POST /oauth/token', headers, body)
  ),
  almost(
    mostly(10, '', pair),
    `Authorization: Bearer ${TOKEN}`,
    (query, headers) => request(`GET /oauth/user?${escaped(query)}`, headers)
  )
)

/** What is wrong with the response; undefined where nothing is. */
function faultOf ({ text, statuses, closed }: Conversation): string | undefined {
  const locations = [...text.matchAll(/^location: (.*)\r$/gim)].map(([, location = '']) => location)
  if (!closed) return 'hangs'
  if (statuses.length === 0) return 'no response'
  if (statuses.some((status) => status >= 500) || text.includes('server_error')) return 'a failure'
  const isHome = (location: string) => location.startsWith(`${PORTAL.redirectUri}?`) || isLogin(location)
  return locations.every(isHome) ? undefined : 'leads away'
}

t.test(`${REQUESTS} requests`, { timeout: 0 }, async (t) => {
  t.comment(`SEED=${seed}`)
  const outcomes = new Set<string>()
  const onEvent = ({ type }: PartnerSsoEvent) => { outcomes.add(type) }
  const host = await startApp(t, { options: { store: 'memory', onEvent } })
  const portal = wire(host.url)

  const send = async (almost: string, isGood: boolean): Promise<void> => {
    const [code, token] = isGood ? [await portal.code(), await portal.accessToken()] : [CODE, TOKEN]
    const text = almost.replaceAll(CODE, code).replaceAll(TOKEN, token)
    const conversation = await say(host.url, text)
    const fault = faultOf(conversation)
    if (fault !== undefined) t.fail(`${fault}: SEED=${seed}, ${JSON.stringify([text, conversation.text])}`)
  }
  for (let chunk = 0; chunk * CHUNK < REQUESTS; chunk++) {
    const queue = fc.sample(almostRight, { seed: seed + chunk, numRuns: CHUNK })
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) await send(next, queue.length % 10 === 0)
    }))
  }
  t.ok(outcomes.has('user_information_returned'))
  t.ok(outcomes.has('login_required'))
  t.strictSame((await portal.user(await portal.accessToken('bob'))).json, RECORDS.bob, 'and a user can sign in')
})
