// What is shown has no secret, in whatever encoding a service repeats it, and the text around stays readable.
import t from 'tap'
import { escape, escapeLines } from '../../lib/flow/escape.ts'
import { Secrets } from '../../lib/flow/masking.ts'
import { portal } from '../../lib/testing/index.ts'
import { PORTAL, SETTINGS } from '../app.ts'
import { httpServer } from '../helpers/listen.ts'
import { respond, responding } from '../helpers/responses.ts'

const HIDDEN = '••••••••'
/** Its Base64 has a `+` and a `/`: Base64url is another text. */
const SECRET = 'Aé &<>"\'+/\\%=S3cret🔑?>~¿ÿ!!'

function hide (text: string, secret = SECRET): string {
  return new Secrets({ clientId: 'partner-123', clientSecret: secret }).mask(text)
}

const percent = (text: string): string =>
  Buffer.from(text)
    .toString('hex')
    .replace(/../g, '%$&')
const unicode = (text: string): string =>
  text.replace(/[^]/g, (unit) => {
    const hex = unit.charCodeAt(0).toString(16)
    return `\\u${hex.padStart(4, '0')}`
  })
const bytes = (text: string): string =>
  text.replace(/[ -~]/g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)
const references = (text: string): string =>
  text.replace(/./gu, (one) => `&#${one.codePointAt(0)};`)
const hexReferences = (text: string): string =>
  text.replace(/./gu, (one) => `&#X00${one.codePointAt(0)?.toString(16)}`)
const json = (text: string): string => JSON.stringify(text).slice(1, -1)
const NAMES: Record<string, string> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  '\'': 'apos',
  '+': 'plus'
}
const html = (text: string): string =>
  text.replace(/[&<>"'+]/g, (one) => `&${NAMES[one]};`)
const form = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2)

/** As the portal itself, a URL, a form and JSON have it: what is around it stays readable. */
const USUAL: Record<string, (text: string) => string> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  'component of a URL': encodeURIComponent,
  form,
  json
}

/** Of a text that has it in another encoding, nothing is shown. */
const ENCODINGS: Record<string, (text: string) => string> = {
  'every byte in percent, in upper case': (text) => percent(text).toUpperCase(),
  'every character as \\u': unicode,
  'every ASCII character as \\x': bytes,
  html,
  'references by number': references,
  'references in hex, without semicolon': hexReferences,
  'a form in JSON in HTML': (text) => html(json(form(text))),
  'references of references of references': (text) => html(html(references(text))),
  'percent three times': (text) => encodeURIComponent(encodeURIComponent(percent(text)))
}

for (const [name, encode] of Object.entries({ ...USUAL, ...ENCODINGS })) {
  t.test(`the client secret: ${name}`, async (t) => {
    const text = (secret: string): string => `(${secret}) & more, ${secret}`
    t.equal(hide(text(encode(SECRET))), name in USUAL ? text(HIDDEN) : HIDDEN)
    t.equal(hide(encode(SECRET), '?!/(&'.repeat(4)), encode(SECRET), 'another one')
  })
}

t.test('the client secret within a longer text in Base64 or hex, wherever it begins', async (t) => {
  const spellings = [['base64', SECRET], ['base64url', SECRET], ['hex', SECRET], ['base64', form(SECRET)]] as const
  for (const [encoding, secret] of spellings) {
    for (const around of ['', 'x', 'xy', 'xyz']) {
      const text = Buffer.from(`${around}${secret}${around}`).toString(encoding)
      for (const shown of [text, form(text), `a word, ${text}, another`]) {
        t.equal(hide(shown), HIDDEN, `${encoding}: ${around}: ${shown}`)
      }
    }
  }
})

t.test('the client secret where a text was cut within it', async (t) => {
  for (const cut of [4, 8, SECRET.length - 1]) {
    const beginning = SECRET.slice(0, cut)
    t.equal(hide(`got “${beginning}” and ${beginning}…`), `got “${HIDDEN}” and ${HIDDEN}…`, `${cut} characters`)
  }
})

t.test('a client secret of hardly any letter', async (t) => {
  t.equal(hide(`a ${percent('~!:?~!:?a')}`, '~!:?~!:?a'), HIDDEN)
  t.equal(hide('a text of words', '~!:?~!:?a'), 'a text of words')
})

t.test('a text without the client secret stays, also where the secret is short or long', async (t) => {
  const text = '50% of &unknown; &#99999999; \\q &amp; %zz'
  t.equal(hide(text), text)
  t.equal(hide('the key: (key)', 'key'), `the ${HIDDEN}: (${HIDDEN})`)
  t.equal(hide('x\\\\\\\\key', '\\\\key').endsWith(HIDDEN), true, 'backslashes')
  t.equal(hide(percent('€/'.repeat(1000)), '€/'.repeat(1000)), HIDDEN)
})

// A megabyte: a time that grew with its square would exceed tap's limit.
t.test('no text costs more than its size: nothing is tried in two ways', async (t) => {
  for (const secret of ['\\\\\\\\key', 'aaaaaaaaaaaaaaaaaab', '%%%%%%%%%%b', '&&&&&&&&&&b', '\\a\\a\\a\\ab']) {
    for (const text of ['\\', '\\\\\\u0061', '%25', '&amp;', '&#0', 'a', '\\a']) {
      t.ok(hide(text.repeat(2 ** 20 / text.length), secret), `${secret} in ${text}${text}…`)
    }
  }
})

t.test('secrets of one sign-in: as they are and in a form, the longest first, four characters at least', async (t) => {
  const secrets = new Secrets({ clientId: 'partner-123', clientSecret: 'the-secret' })
  for (const secret of ['abc', 'wxyz', 'wxyz/and more']) secrets.add(secret)
  t.equal(secrets.mask('abc wxyz wxyz/and more wxyz%2Fand+more'), `abc ${HIDDEN} ${HIDDEN} ${HIDDEN}`)
  secrets.add('the-secret')
  t.equal(secrets.mask(percent('the-secret')), HIDDEN, 'a code that is the client secret')
})

t.test('a value where a secret belongs is hidden, though it is not known', async (t) => {
  const secrets = new Secrets(SETTINGS)
  for (const name of ['access_token', 'refresh_token', 'id_token', 'client_secret', 'code_verifier']) {
    const body = (value: string) => `{"a":"b","${name}" : "${value}","c":"d"}`
    t.equal(secrets.mask(body('unknown')), body(HIDDEN), name)
  }
  for (const name of ['access_token', 'client_secret', 'code', 'code_verifier']) {
    for (const [before, after] of [['', '&a=b'], ['/cb?', '"'], ['/cb?a=b&', '<'], ['?a&amp;', ' and'], ['\n', '']]) {
      const text = (value: string) => `${before}${name}=${value}${after}`
      t.equal(secrets.mask(text('unknown')), text(HIDDEN), text('…'))
    }
  }
  t.equal(secrets.mask('code_challenge=x&zip_code=7'), 'code_challenge=x&zip_code=7', 'no other parameter')
})

t.test('headers that carry secrets show their scheme, names and attributes only', async (t) => {
  const message = (secret: string) => ({
    headers: [
      ['AUTHORIZATION', `Digest ${secret}`], ['Proxy-Authorization', `Basic ${secret}`],
      ['cookie', `a=${secret}; b=${secret}`], ['Set-Cookie', `a=${secret}; Path=/`], ['X-Other', 'a=b'],
      // Every object has a property of this name.
      ['constructor', `code=${secret}`]
    ] as const,
    body: `code=${secret}`
  })
  const exchange = (secret: string) => ({
    request: { method: 'GET', url: `http://localhost/?code=${secret}`, ...message(secret) },
    response: { status: 200, ...message(secret) },
    milliseconds: 1
  })
  t.strictSame(new Secrets(SETTINGS).maskExchange(exchange('unknown')), exchange(HIDDEN))
})

t.test('a sign-in that the service repeats: credentials, session, code, token and verifier', async (t) => {
  let verifier = ''
  const baseUrl = await httpServer(t, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://x')
    if (pathname === '/oauth/authorize') {
      const Location = `${PORTAL.redirectUri}?code=the-code&state=${searchParams.get('state')}`
      return respond(response, 302, '', { 'Set-Cookie': 'sid=the-session; Path=/', Location })
    }
    const sent = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
    verifier = sent.get('code_verifier') ?? verifier
    return respond(response, 200, {
      token_type: 'Bearer',
      access_token: 'the-token',
      said: `${request.headers.authorization} ${[...sent.values()].join(' ')} the-code the-token`
    }, { 'X-Seen': 'the-code the-token' })
  })
  for (const clientAuthentication of ['form', 'basic'] as const) {
    const result = await portal({ baseUrl, ...SETTINGS, clientAuthentication, pkce: true }).signIn()
    t.match(result, { ok: false, step: 15 }, clientAuthentication)
    const shown = JSON.stringify(result)
    const id = Buffer.from(`${SETTINGS.clientId}:`)
      .toString('base64')
      .slice(0, 12)
    const { clientSecret } = PORTAL
    for (const secret of ['the-session', 'the-code', 'the-token', verifier, clientSecret, form(clientSecret), id]) {
      t.notMatch(shown, secret, `${clientAuthentication}: ${secret}`)
    }
  }
})

t.test('an error that is a secret, a note, what was expected and got', async (t) => {
  const settings = { ...SETTINGS, clientSecret: 'a_client_secret' }
  for (const error of ['a_client_secret', 'the_code_or_token']) {
    const baseUrl = await responding(t, 400, { error, error_description: `“${error}” is wrong` })
    for (const call of ['token', 'user'] as const) {
      const result = await portal({ baseUrl, ...settings })[call]('the_code_or_token')
      const got = `(“${HIDDEN}” is wrong)`
      t.match(result, { ok: false, error: HIDDEN, got }, `${error} at ${call}`)
    }
  }
  const Location = `${PORTAL.redirectUri}/other?code=an-unknown-code`
  const baseUrl = await responding(t, 302, '', { Location })
  const redirectUri = `${PORTAL.redirectUri}?key=${encodeURIComponent(PORTAL.clientSecret)}`
  const failed = await portal({ baseUrl, ...SETTINGS, redirectUri }).signIn()
  t.match(failed, { ok: false, got: `code=${HIDDEN}` })
  t.match(failed.steps[6]?.note, `code=${HIDDEN}`)
  t.notMatch(JSON.stringify(failed), 'an-unknown-code')
})

t.test('a code that no request has had yet', async (t) => {
  const Location = `${PORTAL.redirectUri}?code=the-code&hint=the-code&state=wrong`
  const baseUrl = await responding(t, 302, '', { Location })
  const result = await portal({ baseUrl, ...SETTINGS }).signIn()
  t.match(JSON.stringify(result), `code=${HIDDEN}&hint=${HIDDEN}`)
})

t.test('characters that control a terminal, or are invisible, are escaped: one of each kind', async (t) => {
  const controls = ['\0', '\b', '\t', '\r', '\x1b', '\x7f', '\x9b']
  const invisible = ['\u00ad', '\u200b', '\u202e', '\u{e0001}', '\ud800', '\udc00', '\u2028', '\u2029']
  for (const character of [...controls, ...invisible]) {
    const given = `a${character}b`
    const inJson = escapeLines(JSON.stringify(given))
    for (const text of [escape(given), inJson.slice(1, -1)]) {
      t.match(text, /^a\\[a-z][\x20-\x7e]*b$/, text)
      t.equal(JSON.parse(`"${text}"`), given, text)
    }
  }
  t.equal(escapeLines('{\n}'), '{\n}')
  t.equal(escape('é€🔑~'), 'é€🔑~', 'what is visible stays')
})
