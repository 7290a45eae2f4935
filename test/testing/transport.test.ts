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
  const baseUrl = await httpServer(t, ({ url = '' }, response) => { response.end('x'.repeat(Number(url.slice(1)))) })
  const send = overHttp(60_000)
  const largest = await send(request(`${baseUrl}/${MEGABYTE}`))
  t.equal(statusOf(largest), 200)
  t.equal(largest.response?.body.length, MEGABYTE)
  const tooLarge = await send(request(`${baseUrl}/${MEGABYTE + 1}`))
  t.equal(tooLarge.networkError?.code, 'too_large')
  t.equal(statusOf(tooLarge), 0, 'there is no response')
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

const REASONS: Record<NetworkError['code'], string[]> = {
  unreachable: ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES'],
  hung_up: ['ECONNRESET', 'EPIPE'],
  timeout: ['TimeoutError', 'AbortError', 'ETIMEDOUT'],
  // Codes of certificates, of https://nodejs.org/api/tls.html
  tls: [
    'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_DECRYPT_CERT_SIGNATURE', 'CERT_SIGNATURE_FAILURE', 'CERT_NOT_YET_VALID',
    'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_CHAIN_TOO_LONG', 'CERT_REVOKED', 'INVALID_CA', 'PATH_LENGTH_EXCEEDED',
    'INVALID_PURPOSE', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'HOSTNAME_MISMATCH', 'ERR_TLS_CERT_ALTNAME_INVALID',
    'EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER'
  ],
  not_http: ['HPE_INVALID_CONSTANT', 'HPE_HEADER_OVERFLOW'],
  too_large: ['TOO_LARGE'],
  app_failed: ['APP_FAILED']
}

t.test('why there is no response, by the code of the error or its name', (t) => {
  for (const [code, reasons] of Object.entries(REASONS)) {
    for (const reason of reasons) {
      for (const error of [{ code: reason, name: 'Error' }, { name: reason }]) {
        t.equal(networkError({ ...error, message: 'no' }, 'http://x', 5000).code, code, JSON.stringify(error))
      }
    }
  }
  t.end()
})

t.test('JSON of 64 KB is read, and none that is longer', (t) => {
  const object = (length: number) => jsonObject({ status: 200, headers: [], body: '{}'.padEnd(length) })
  t.strictSame([object(64 * 1024), object(64 * 1024 + 1)], [{}, null])
  t.end()
})
