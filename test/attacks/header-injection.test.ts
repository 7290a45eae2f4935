// Someone puts line breaks, control characters and non-ASCII into whatever the service writes into a header: state, the
// path that return_to comes from, what a loginPage function makes of it. A header of their own, a second response or a
// crash would be their gain. Every header stays one line of visible ASCII.
import fc from 'fast-check'
import t from 'tap'
import { hostOptions, PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { authorizePath, request, say } from './helpers/raw.ts'
import { rounds, seed, wellFormed } from './helpers/settings.ts'

const RUNS = rounds('INJECTION_RUNS', 300)

const breaks = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\u0000',
  '\u0085',
  '\u2028',
  '\u2029',
  '\v',
  '\f',
  '\u010d\u010a',
  '嘊嘍',
  '\ud83d\ude00',
  'ü',
  '\u007f',
  '%0d%0a',
  '%250d%250a',
  '\\r\\n',
  '%E5%98%8A%E5%98%8D'
]
const payloads = breaks.flatMap((text) => [
  `a${text}X-Injected: yes`,
  `${text}Set-Cookie: session=evil`,
  `${text}${text}<script>alert(1)</script>`,
  `HTTP/1.1 200 OK${text}Content-Length: 0${text}${text}`
])

/** The head of each answer, which must hold no header but the service's own. */
function heads (text: string): string[] {
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => answer.split('\r\n\r\n', 1)[0] as string)
}

const KNOWN = new RegExp('^(?:location|cache-control|pragma|referrer-policy|x-frame-options|' +
  'content-security-policy|content-type|content-length|date|connection|keep-alive|www-authenticate|retry-after|vary)' +
  ': [\\x20-\\x7e]*$', 'i')

function strangeLines (text: string): string[] {
  return heads(text).flatMap((head) => head.split('\r\n').slice(1).filter((line) => !KNOWN.test(line)))
}

await t.test('in the parameters of the authorization request', async (t) => {
  const { url, events } = await startHost(t, { loginPage: '/login' })
  const refusals: Record<string, string> = {
    client_id: 'client_id_unknown',
    redirect_uri: 'redirect_uri_unregistered',
    response_type: 'response_type_unsupported',
    code_challenge: 'code_challenge_malformed',
    code_challenge_method: 'code_challenge_malformed'
  }
  const ask = async (changes: Record<string, string>, headers: string[] = []) => {
    const query = new URLSearchParams({
      client_id: PORTAL.clientId,
      redirect_uri: PORTAL.redirectUri,
      response_type: 'code',
      state: 's',
      ...changes
    })
    return await say(url, request(`GET /oauth/authorize?${query.toString()}`, headers))
  }
  for (const payload of payloads) {
    for (const name of [
      'state',
      'client_id',
      'redirect_uri',
      'response_type',
      'scope',
      'code_challenge',
      'code_challenge_method',
      payload
    ]) {
      for (const user of [['X-User: alice'], []]) {
        const { text, statuses } = await ask({ [name]: payload }, user)
        const shown = `${name}=${JSON.stringify(payload)}`
        if (statuses.length !== 1 || strangeLines(text).length > 0) t.fail(`${shown}: ${text}`)
        const reason = events.at(-1)?.reason
        const expected = refusals[name] ?? (user.length > 0 ? 'ok' : 'login_page')
        if (reason !== expected) t.fail(`${shown} is reported as ${reason}`)
      }
    }
  }
  t.pass(`${payloads.length} payloads in each parameter`)
})

await t.test('in headers and in the form of the token request', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  for (const payload of payloads) {
    events.length = 0
    const basic = Buffer.from(`${payload}:${payload}`).toString('base64')
    for (const answer of [
      await portal.token({ client_id: payload, code: payload }),
      await portal.token({ client_secret: payload, grant_type: payload, code: 'x' }),
      await portal.token(
        { client_id: undefined, client_secret: undefined, code: 'x' },
        { authorization: `Basic ${basic}` }
      ),
      await portal.user(encodeURIComponent(payload))
    ]) {
      const strange = [...answer.headers].filter(([name, value]) => !KNOWN.test(`${name}: ${value}`))
      if (strange.length === 0 && [400, 401].includes(answer.status)) continue
      t.fail(`${JSON.stringify(payload)}: ${answer.status} ${JSON.stringify(strange)}`)
    }
    t.strictSame(
      events.map(({ reason }) => reason),
      ['client_unknown', 'grant_type_unsupported', 'client_unknown', 'authorization_malformed'],
      encodeURIComponent(payload)
    )
  }
  t.pass(`${payloads.length} payloads`)
})

await t.test('in what a loginPage function returns', async (t) => {
  let page = ''
  const { url, events } = await startHost(t, { loginPage: (returnTo) => page + returnTo })
  for (const payload of payloads) {
    page = `/login?hint=${payload}&to=`
    const { text, statuses } = await say(url, request(`GET ${authorizePath('s')}`))
    t.strictSame(statuses, [302])
    t.strictSame(strangeLines(text), [], encodeURIComponent(payload))
  }
  page = '/login?half=\ud800'
  const { redirect } = await wire(url).authorize({}, null)
  t.equal(redirect.get('error'), 'server_error', 'half a character is no URL')
  t.equal(events.at(-1)?.reason, 'login_page_failed')
})

await t.test(`${RUNS} strings of any kind, as state and as login page`, async (t) => {
  t.comment(`SEED=${seed}`)
  let page = ''
  const { app } = await startHost(t, { loginPage: () => page })
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom('alice', undefined),
      async (text, user) => {
        page = text
        const query = new URLSearchParams({
          client_id: PORTAL.clientId,
          redirect_uri: PORTAL.redirectUri,
          response_type: 'code',
          state: wellFormed(text)
        })
        const { statusCode, headers } = await app.inject({
          url: `/oauth/authorize?${query.toString()}`,
          headers: user === undefined ? {} : { 'x-user': user }
        })
        const isGood = statusCode === 302 && /^[\x21-\x7e]+$/.test(headers.location as string)
        if (!isGood) throw new Error(`${statusCode} ${headers.location}`)
      }
    ),
    { numRuns: RUNS, seed }
  )
  t.pass('visible ASCII each time')
})

await t.test('in an option: refused before it can do harm', async (t) => {
  for (const payload of ['\r\nX: y', 'ü', '\u0000', '\t']) {
    for (const options of [
      { portal: { ...PORTAL, redirectUri: `https://portal.example/${payload}` } },
      { portal: { ...PORTAL, clientId: `a${payload}` } },
      { loginPage: `/login${payload}` }
    ]) {
      const { default: Fastify } = await import('fastify')
      const { default: partnerSso } = await import('../../lib/index.ts')
      await t.rejects(async () => await Fastify().register(partnerSso, hostOptions(options)), {
        message: /^partner-sso: option "(?:portal\.(?:redirectUri|clientId)|loginPage)" must be/
      })
    }
  }
})
