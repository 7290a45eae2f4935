// Someone hides a second request in the first one, hoping that a proxy in front and the service disagree where it
// ends: the hidden one would run with another's credentials. Whatever the shape, no hidden request reaches an
// endpoint.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { authorizePath, say } from './helpers/raw.ts'

const CRLF = '\r\n'

/** The head of a request, its lines in the one form that is valid. */
const lines = (...lines: string[]): string => [...lines, '', ''].join(CRLF)

await t.test('no shape of the body lets a hidden request through', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const form = new URLSearchParams({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code: await portal.code()
  }).toString()
  const hidden = lines(`GET ${authorizePath('hidden')} HTTP/1.1`, 'Host: x', 'X-User: mallory', 'Connection: close')
  const get = (...headers: string[]) =>
    lines('GET /oauth/user HTTP/1.1', 'Host: x', ...headers, 'Connection: close')
  const head = (...headers: string[]) => lines(
    'POST /oauth/token HTTP/1.1',
    'Host: partner.example',
    'Content-Type: application/x-www-form-urlencoded',
    ...headers
  )
  const chunked = `${form.length.toString(16)}${CRLF}${form}${CRLF}0${CRLF}${CRLF}`
  const shapes: Record<string, string> = {
    'CL.TE':
      head(`Content-Length: ${chunked.length + hidden.length}`, 'Transfer-Encoding: chunked') + chunked + hidden,
    'TE.CL': head('Transfer-Encoding: chunked', 'Content-Length: 4') + chunked + hidden,
    'two lengths':
      head(`Content-Length: ${form.length}`, `Content-Length: ${form.length + hidden.length}`) + form + hidden,
    'two lengths in one': head(`Content-Length: ${form.length}, ${form.length}`) + form + hidden,
    'length with a sign': head(`Content-Length: +${form.length}`) + form + hidden,
    'negative length': head('Content-Length: -1') + form + hidden,
    'length in hexadecimal': head(`Content-Length: 0x${form.length.toString(16)}`) + form + hidden,
    'length with white space inside': head(`Content-Length: ${form.length} 0`) + form + hidden,
    'length past all numbers': head('Content-Length: 99999999999999999999999') + form + hidden,
    'space before the colon':
      head('Transfer-Encoding : chunked', `Content-Length: ${form.length}`) + chunked + hidden,
    'tab before the value':
      head('Transfer-Encoding:\tchunked', `Content-Length: ${form.length}`) + chunked + hidden,
    'two encodings':
      head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity', `Content-Length: ${form.length}`) +
      chunked +
      hidden,
    'chunked, but not last': head('Transfer-Encoding: chunked, identity') + chunked + hidden,
    'almost chunked': head('Transfer-Encoding: xchunked', `Content-Length: ${form.length}`) + chunked + hidden,
    'a folded header':
      head(`X: y${CRLF} Transfer-Encoding: chunked`, `Content-Length: ${form.length}`) + form + hidden,
    'line feeds alone': head(`Content-Length: ${form.length}`).replaceAll(CRLF, '\n') + form + hidden,
    'a carriage return alone':
      head('X: y\rTransfer-Encoding: chunked', `Content-Length: ${form.length}`) + form + hidden,
    'a zero byte in a name': head('Transfer-Encoding\0: chunked', `Content-Length: ${form.length}`) + form + hidden,
    'a chunk past its end':
      head('Transfer-Encoding: chunked') +
      `${(form.length - 5).toString(16)}${CRLF}${form}${CRLF}0${CRLF}${CRLF}` +
      hidden,
    'a huge chunk':
      head('Transfer-Encoding: chunked') + `ffffffffffffffffff${CRLF}${form}${CRLF}0${CRLF}${CRLF}` + hidden,
    'a line feed in a chunk extension':
      head('Transfer-Encoding: chunked') + `2;\nxx${CRLF}ab${CRLF}0${CRLF}${CRLF}` + hidden,
    'a body in a GET': get(`Content-Length: ${hidden.length}`) + hidden,
    'a body in a GET, chunked':
      get('Transfer-Encoding: chunked') + `${hidden.length.toString(16)}${CRLF}${hidden}${CRLF}0${CRLF}${CRLF}`,
    'HTTP/1.0 and chunked': head('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + chunked + hidden,
    'a request in the query': get(`X: ${hidden.split(CRLF)[0]}`).replace('/oauth/user', '/oauth/user?x='),
    'no host':
      `POST /oauth/token HTTP/1.1${CRLF}Content-Length: 0${CRLF}${CRLF}` + hidden.replace('Host: x', 'X: x'),
    'two hosts': head('Host: evil.example', `Content-Length: ${form.length}`) + form,
    'an upgrade': head('Connection: Upgrade', 'Upgrade: h2c', `Content-Length: ${form.length}`) + form
  }
  for (const [shape, text] of Object.entries(shapes)) {
    events.length = 0
    const { statuses, text: answer, closed } = await say(url, text, { end: true })
    t.ok(closed, `${shape}: the connection is closed`)
    t.ok(statuses.every((status) => status < 500), statuses.join())
    t.notOk(events.some(({ type }) => type === 'code_issued'), 'what is hidden does not run')
    // Each answer of an endpoint has this header; those of Node have not.
    const answers = answer.split(/^cache-control: no-store/im).length - 1
    t.ok(events.length >= answers, `${events.length} outcomes are reported, ${answers} answers arrived`)
    t.notMatch(answer, /state=hidden|mallory/)
  }
  t.equal((await portal.user(await portal.accessToken())).status, 200, 'and a user can sign in')
})

await t.test('requests that follow each other on one connection are kept apart', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const token = await portal.accessToken()
  const { statuses } = await say(
    url,
    lines('GET /oauth/user HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`) +
      lines('GET /oauth/user HTTP/1.1', 'Host: x', 'Connection: close')
  )
  t.strictSame(statuses, [200, 401], 'the second has no credentials of the first')
  t.strictSame(events.slice(-2).map(({ reason }) => reason).sort(), ['credentials_missing', 'ok'])
})
