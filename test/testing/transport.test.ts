// How requests are sent: a response is read up to a limit, and a signal aborts a request.
import t from 'tap'
import { networkError } from '../../lib/flow/network-error.ts'
import type { NetworkError } from '../../lib/flow/network-error.ts'
import { inProcess, overHttp } from '../../lib/flow/transport.ts'
import { jsonObject, statusOf } from '../../lib/flow/wire.ts'
import { httpServer } from '../helpers/listen.ts'

const MEGABYTE = 1024 * 1024

const request = (url: string) => ({ method: 'GET', url, headers: [] })

t.test('a body of a megabyte is read, and none that is larger', async (t) => {
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    const length = Number(url.slice(1))
    response.end('x'.repeat(length))
  })
  const send = overHttp(60_000)
  const largest = await send(request(`${baseUrl}/${MEGABYTE}`))
  t.equal(statusOf(largest), 200)
  t.equal(largest.response?.body.length, MEGABYTE)
  const tooLarge = await send(request(`${baseUrl}/${MEGABYTE + 1}`))
  t.equal(tooLarge.networkError?.code, 'too_large')
  t.equal(statusOf(tooLarge), 0, 'there is no response')
})

t.test('JSON that is longer than any response is not read', (t) => {
  const body = JSON.stringify({ access_token: 'x'.repeat(64 * 1024) })
  t.equal(jsonObject({ status: 200, headers: [], body }), null)
  t.end()
})

t.test('a character whose bytes arrive in two parts is one', async (t) => {
  // Many reads of the socket: of characters of three bytes, some are split between two reads.
  const body = '€'.repeat(MEGABYTE / 4)
  const baseUrl = await httpServer(t, (_request, response) => { response.end(body) })
  t.ok((await overHttp(60_000)(request(baseUrl))).response?.body === body)
})

t.test('a signal from outside ends the request before its time', async (t) => {
  // No word of a time limit: that would end the request as well.
  const stopped = { networkError: { code: 'unreachable', sentence: /: Stopped$/ } }
  const stop = new AbortController()
  const baseUrl = await httpServer(t, () => stop.abort(new Error('Stopped')))
  t.match(await overHttp(10_000)(request(baseUrl), stop.signal), stopped)

  const stopToo = new AbortController()
  const app = {
    async inject () {
      stopToo.abort(new Error('Stopped'))
      return await new Promise<never>(() => {})
    }
  }
  t.match(await inProcess(app, 10_000)(request('http://x/'), stopToo.signal), stopped)
})

/** The code and the sentence for each code or name of an error. */
const REASONS: Array<[code: NetworkError['code'], sentence: RegExp, errors: string[]]> = [
  ['unreachable', /^Nothing listens at/, ['ECONNREFUSED']],
  ['unreachable', /^The host name of .* is not known/, ['ENOTFOUND', 'EAI_AGAIN']],
  ['unreachable', /cannot be reached: no$/, ['EHOSTUNREACH', 'EACCES']],
  ['hung_up', /closed the connection without a response/, ['ECONNRESET', 'EPIPE']],
  ['timeout', /gave no complete response within 5 s/, ['AbortError', 'ETIMEDOUT']],
  ['tls', /^The certificate of .* is not trusted here/, [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_HAS_EXPIRED', 'INVALID_CA',
    'PATH_LENGTH_EXCEEDED', 'INVALID_PURPOSE', 'HOSTNAME_MISMATCH', 'ERR_TLS_CERT_ALTNAME_INVALID'
  ]],
  ['tls', /does not speak TLS/, ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER']]
]

t.test('why there is no response, by the code of the error or its name', async (t) => {
  for (const [code, sentence, reasons] of REASONS) {
    for (const name of reasons) {
      t.match(networkError({ name, message: 'no' }, 'http://x', 5000), { code, sentence }, name)
    }
  }
  t.equal(networkError({ code: 'EPIPE', name: 'Error', message: 'no' }, 'http://x', 5000).code, 'hung_up')
  const message = 'Set ORIGIN, in SECONDS or $&'
  const { sentence } = networkError({ name: 'APP_FAILED', message }, 'http://x', 5000)
  t.equal(sentence, `The app failed: ${message}`, 'a message stays as it is')
})
