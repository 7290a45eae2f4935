// What travels in headers and bodies is shown without its secrets.
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { Secrets } from '../../lib/flow/masking.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { returned, SignIn } from '../../lib/flow/legs.ts'
import { basicCredentials } from '../../lib/flow/requests.ts'
import type { Exchange } from '../../lib/flow/wire.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { CLIENT_SECRET, REDIRECT_URI, SETTINGS } from '../helpers/partner.ts'
import { respond, responding } from '../helpers/responses.ts'

const HIDDEN = '••••••••'

await t.test('cookies, credentials, codes and tokens, in whatever form a service repeats them', async (t) => {
  let verifier = ''
  const baseUrl = await httpServer(t, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://x')
    if (pathname === '/oauth/authorize') {
      const back = `${REDIRECT_URI}?code=the/code+1&state=${searchParams.get('state')}`
      return respond(response, 302, '', { 'Set-Cookie': 'sid=the-session; Path=/', Location: back })
    }
    const body = Buffer.concat(await request.toArray()).toString()
    const form = new URLSearchParams(body)
    verifier = form.get('code_verifier') ?? verifier
    const given = {
      token_type: 'Bearer',
      access_token: 'the"token',
      refresh_token: 'another',
      echo: body,
      authorization: request.headers.authorization,
      parsed: Object.fromEntries(form),
      values: [...form.values()]
    }
    return respond(response, 200, given, { 'X-Code': 'the/code 1', 'X-Token': 'the"token' })
  })
  const secrets = [
    'the-session', 'the/code', 'the%2Fcode', 'the"token', 'the\\\\\\"token', 'another',
    CLIENT_SECRET, encodeURIComponent(CLIENT_SECRET)
  ]
  for (const clientAuthentication of ['form', 'basic'] as const) {
    const result = await portal({ baseUrl, ...SETTINGS, clientAuthentication, pkce: true }).signIn()
    const text = JSON.stringify(result)
    t.match(result, { ok: false, step: 15 }, clientAuthentication)
    for (const secret of [...secrets, verifier]) t.notMatch(text, secret, `${clientAuthentication}: ${secret}`)
    t.notMatch(text, Buffer.from(`${SETTINGS.clientId}:`).toString('base64').slice(0, 12), clientAuthentication)
    t.match(text, `sid=${HIDDEN}; Path=/`, clientAuthentication)
    const credentials = clientAuthentication === 'basic' ? 'Basic ' : 'client_secret='
    t.match(text, credentials + HIDDEN, clientAuthentication)
  }
})

await t.test('a long secret, also one whose every character may be encoded', (t) => {
  const long = Array.from({ length: 900 }, (_none, count) => `${count}+/`).join('')
  const percentEncoded = [...Buffer.from(long)].map((byte) => `%${byte.toString(16)}`).join('')
  const secrets = { 'in hex': Buffer.from(long).toString('hex'), long, 'percent-encoded': percentEncoded }
  for (const [name, secret] of Object.entries(secrets)) {
    const known = new Secrets()
    known.add(secret)
    t.equal(known.mask(`<${secret}>`), `<${HIDDEN}>`, name)
    t.ok(known.mask(encodeURIComponent(secret)).length < 100, `${name}, encoded once more`)
  }
  t.end()
})

await t.test('the client secret in Base64, with any letter encoded, and a short one', async (t) => {
  for (const [clientSecret, repeated] of [
    [CLIENT_SECRET, Buffer.from(CLIENT_SECRET).toString('base64')],
    [CLIENT_SECRET, CLIENT_SECRET.replace('s', '%73')],
    [CLIENT_SECRET, basicCredentials(SETTINGS.clientId, CLIENT_SECRET).slice('Basic '.length)],
    ['key', 'key']
  ] as const) {
    const body = { error: 'invalid_client', error_description: `“${repeated}” is wrong` }
    const baseUrl = await responding(t, 400, body)
    const result = await portal({ baseUrl, ...SETTINGS, clientSecret }).token('the-code')
    t.match(result, { got: `(“${HIDDEN}” is wrong)` }, repeated)
  }
})

await t.test('a known secret is hidden in each shape in which it may travel, wherever it stands', (t) => {
  const secrets = new Secrets()
  secrets.add('a b"/ä')
  for (const shape of [
    'a b"/ä', 'a%20b%22%2F%C3%A4', 'a+b%22%2f%c3%a4', 'a b\\"/ä', 'a b&quot;/&#228;', 'A B&#34;&#x2F;&#xE4;'
  ]) {
    t.equal(secrets.mask(`<${shape}> and ${shape}.`), `<${HIDDEN}> and ${HIDDEN}.`, shape)
  }
  secrets.add('a b"/ä and more')
  t.equal(secrets.mask('a b"/ä and more'), HIDDEN, 'the longest goes first')
  for (const [secret, masked] of [['abc', 'abc'], ['wxyz', HIDDEN]] as const) {
    secrets.add(secret)
    t.equal(secrets.mask(secret), masked, `${secret}: three characters would hide half of the text, four are hidden`)
  }
  t.end()
})

await t.test('a value where a secret belongs is hidden, though it is not known', (t) => {
  const secrets = new Secrets()
  for (const name of ['access_token', 'refresh_token', 'id_token', 'client_secret', 'code_verifier']) {
    const body = (value: string) => `{"a":"b","${name}" : "${value}","c":"d"}`
    t.equal(secrets.mask(body('unknown-1')), body(HIDDEN), name)
  }
  for (const name of ['access_token', 'client_secret', 'code', 'code_verifier']) {
    for (const before of ['', '/cb?', '/cb?a=b&', '/cb?a=b&amp;', 'the form\n', 'with ']) {
      for (const after of ['', '&a=b', '"', '\'', '<', ' and']) {
        const text = (value: string) => `${before}${name}=${value}${after}`
        t.equal(secrets.mask(text('unknown-1')), text(HIDDEN), text('…'))
      }
    }
  }
  t.equal(secrets.mask('code_challenge=x&zip_code=7'), 'code_challenge=x&zip_code=7', 'no other parameter')
  t.end()
})

await t.test('headers that carry secrets show their scheme, names and attributes only', (t) => {
  const headers = [
    ['AUTHORIZATION', 'Digest unknown-1'], ['Proxy-Authorization', 'Basic unknown-1'],
    ['cookie', 'a=unknown-1; b=unknown-2; c=unknown-3'], ['Set-Cookie', 'a=unknown-1; Path=/; SameSite=Lax'],
    ['X-Other', 'a=b']
  ] as const
  const exchange: Exchange = {
    request: { method: 'GET', url: 'http://localhost/?code=unknown-1', headers, body: 'code=unknown-1' },
    response: { status: 200, headers, body: 'client_secret=unknown-1' },
    milliseconds: 1
  }
  const shown = [
    ['AUTHORIZATION', `Digest ${HIDDEN}`], ['Proxy-Authorization', `Basic ${HIDDEN}`],
    ['cookie', `a=${HIDDEN}; b=${HIDDEN}; c=${HIDDEN}`], ['Set-Cookie', `a=${HIDDEN}; Path=/; SameSite=Lax`],
    ['X-Other', 'a=b']
  ]
  t.strictSame(new Secrets().maskExchange(exchange), {
    request: { method: 'GET', url: `http://localhost/?code=${HIDDEN}`, headers: shown, body: `code=${HIDDEN}` },
    response: { status: 200, headers: shown, body: `client_secret=${HIDDEN}` },
    milliseconds: 1
  })
  t.end()
})

await t.test('a short client secret as a word of its own, encoded or not', (t) => {
  const secrets = new Secrets()
  secrets.addForGood('a/ö')
  for (const shape of [
    'a/ö', 'A/Ö', 'a%2Fö', 'a%2f%c3%b6', '%61%2F%C3%B6', 'a\\/ö', 'a\\u002F\\u00F6', 'a&#47;&ouml;', 'a&#x2F;&#xF6;',
    'a&#X2f;ö'
  ]) {
    t.equal(secrets.mask(`<${shape}> "${shape}"`), `<${HIDDEN}> "${HIDDEN}"`, shape)
    t.equal(secrets.mask(`x${shape}y`), `x${shape}y`, `${shape} in a word`)
  }
  t.end()
})

await t.test('an error that is a secret', async (t) => {
  const settings = { ...SETTINGS, clientSecret: 'a_client_secret' }
  for (const error of ['a_client_secret', 'the_code_or_token']) {
    const baseUrl = await responding(t, 400, { error })
    for (const call of ['token', 'user'] as const) {
      const result = await portal({ baseUrl, ...settings })[call]('the_code_or_token')
      t.match(result, { ok: false, error: HIDDEN }, `${error} at ${call}`)
      t.notMatch(JSON.stringify({ ...result, response: 'as it was sent' }), error, `${error} at ${call}`)
    }
  }
  const baseUrl = await responding(t, 302, '', { Location: `${REDIRECT_URI}?error=a_client_secret` })
  const result = await portal({ baseUrl, ...settings }).authorize()
  t.match(result, { ok: false, error: HIDDEN })
  t.notMatch(JSON.stringify(result), 'a_client_secret')
})

await t.test('notes of steps, and what a failure got and expected', async (t) => {
  const baseUrl = await httpServer(t, ({ headers }, response) => {
    respond(response, 401, { error: 'invalid_token', error_description: `${headers.authorization} is unknown` })
  })
  const result = await portal({ baseUrl, ...SETTINGS }).user('the-access-token')
  if (result.ok) throw new Error('signed in')
  t.match(result.got, HIDDEN)
  t.notMatch(result.got, 'the-access-token')
  const away = await responding(t, 302, '', { Location: `${REDIRECT_URI}/other?code=an-unknown-code` })
  const withSecret = `${REDIRECT_URI}?key=${encodeURIComponent(CLIENT_SECRET)}`
  const failed = await portal({ baseUrl: away, ...SETTINGS, redirectUri: withSecret }).signIn()
  if (failed.ok) throw new Error('signed in')
  t.match(failed.expected, `key=${HIDDEN}`)
  t.match(failed.got, `code=${HIDDEN}`)
  t.match(failed.steps.find(({ outcome }) => outcome === 'failed')?.note, `code=${HIDDEN}`)
  t.notMatch(JSON.stringify(failed), 'an-unknown-code')
})

await t.test('a code that is not redeemed, wherever it stands', async (t) => {
  const Location = `${REDIRECT_URI}?code=the-code&hint=the-code&state=wrong`
  const baseUrl = await responding(t, 302, '', { Location })
  const result = await portal({ baseUrl, ...SETTINGS }).signIn()
  t.match(result, { ok: false, error: 'state_mismatch' })
  t.match(JSON.stringify(result), `code=${HIDDEN}&hint=${HIDDEN}`)
  t.notMatch(JSON.stringify(result), 'the-code')
})

await t.test('a code that came from elsewhere and a token that nobody uses, wherever they stand', async (t) => {
  const baseUrl = await responding(t, 200, { access_token: 'the-access-token', token_type: 'Bearer' }, {
    'X-Redeemed': 'the-code', 'X-Issued': 'the-access-token'
  })
  const signIn = new SignIn(createIntegration({ baseUrl, ...SETTINGS }))
  signIn.start()
  signIn.arrived(returned(`${REDIRECT_URI}?code=the-code&state=${signIn.state}`))
  t.match(await signIn.redeem('the-code'), { ok: true, value: 'the-access-token' })
  const shown = JSON.stringify(signIn.steps())
  t.match(shown, `["X-Redeemed","${HIDDEN}"],["X-Issued","${HIDDEN}"]`)
  t.notMatch(shown, 'the-code')
  t.notMatch(shown, 'the-access-token')
})
