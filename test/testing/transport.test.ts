// How requests are sent: a response is read up to a limit, and a signal aborts a request.
import t from 'tap'
import { inProcess, overHttp } from '../../lib/flow/transport.ts'
import { jsonObject, statusOf } from '../../lib/flow/wire.ts'
import { httpServer } from '../helpers/raw-server.ts'

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
  // Of three bytes each, so that some end beyond the buffer of the socket, wherever it begins.
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

t.test('JSON of 64 KB is read, and none that is longer', (t) => {
  const object = (length: number) => jsonObject({ status: 200, headers: [], body: '{}'.padEnd(length) })
  t.strictSame([object(64 * 1024), object(64 * 1024 + 1)], [{}, null])
  t.end()
})
