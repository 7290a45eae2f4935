// Someone speaks HTTP/2, whose headers are no lines of text: a path with bytes that HTTP/1.1 would not let through, two
// Authorization headers. The rules are the same.
import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import { authorizePath, BASIC, tokenForm } from './helpers/raw.ts'
import { staysHere } from './helpers/return-to.ts'

const QUERY = authorizePath('a\xe9\x80\xffb').replace(/^[^?]*/, '')

/** Where a request is redirected; undefined when Node itself or the server refuses it. */
async function locationOf (session: ClientHttp2Session, path: string): Promise<unknown> {
  return await new Promise((resolve) => {
    const stream = session.request({ ':path': path })
    stream.on('response', ({ location }) => resolve(location)).on('error', () => resolve(undefined)).resume()
  })
}

t.test('a path that leads elsewhere, and bytes that are no ASCII', async (t) => {
  // So that each of them comes to the endpoint.
  const rewriteUrl = ({ url = '' }: { url?: string }) => url.replace(/^[^?]*/, '/oauth/authorize')
  const server = { http2: true, rewriteUrl } as unknown as FastifyServerOptions
  const { url } = await startHost(t, { loginPage: '/login' }, { server })
  const session = connect(url)
  t.teardown(() => session.destroy())
  let redirected = 0
  for (const path of [
    '/oauth/authorize', '//evil.example/oauth/authorize', '///evil.example/', '/\\evil.example/oauth/authorize',
    '/\\/evil.example', '/.//evil.example', '/..//evil.example', '/%2f/evil.example', '/%5cevil.example',
    '/@evil.example', 'http://evil.example/oauth/authorize', '/\t/evil.example/oauth/authorize',
    '/\0/oauth/authorize', '/\r\nx: y/oauth/authorize', 'oauth/authorize', '*', ''
  ]) {
    const location = await locationOf(session, path + QUERY)
    if (location === undefined) continue
    redirected++
    const [, returnTo = ''] = /^\/login\?return_to=([\x21-\x7e]+)$/.exec(String(location)) ?? []
    t.ok(staysHere(decodeURIComponent(returnTo)), JSON.stringify(path))
  }
  t.ok(redirected >= 9, `${redirected} came to the endpoint; nghttp2 refuses what does not begin with a slash`)
})

const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])

/** A frame on stream 1 (RFC 9113 section 4.1). */
function frame (type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.from([0, 0, 0, type, flags, 0, 0, 0, 1])
  head.writeUIntBE(payload.length, 0, 3)
  return Buffer.concat([head, payload])
}

/** A literal header field without indexing, nothing of it compressed (RFC 7541 section 6.2.2). */
const field = (parts: string[]): Buffer =>
  Buffer.concat([Buffer.from([0]), ...parts.map((text) => Buffer.from(`${String.fromCharCode(text.length)}${text}`))])

/** Sends a request frame by frame, as no client library would. Returns what is received up to the end of some JSON. */
async function sayFrames (url: string, fields: string[][], body: string): Promise<string> {
  const [HEADERS, END_HEADERS, DATA, END_STREAM] = [1, 4, 0, 1]
  const { hostname, port } = new URL(url)
  const socket = connectTcp(Number(port), hostname)
  socket.write(Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), EMPTY_SETTINGS,
    frame(HEADERS, END_HEADERS, Buffer.concat(fields.map(field))), frame(DATA, END_STREAM, Buffer.from(body))
  ]))
  let received = ''
  for await (const chunk of socket) {
    received += String(chunk)
    if (received.includes('}')) break
  }
  return received
}

t.test('two Authorization headers', async (t) => {
  const { app, url, events } = await startHost(t, {}, { server: { http2: true } as FastifyServerOptions })
  const portal = wire('', undefined, { fetch: injecting(app) })
  const post = [[':method', 'POST'], [':path', '/oauth/token'], [':scheme', 'http'], [':authority', 'partner.example'],
    ['content-type', 'application/x-www-form-urlencoded']]
  const form = String(tokenForm(await portal.code(), false))
  const redeem = (...values: string[]) =>
    sayFrames(url, [...post, ...values.map((value) => ['authorization', value])], form)
  for (const second of [BASIC, 'Basic eDp4', 'Bearer x', '']) {
    for (const both of [[BASIC, second], [second, BASIC]]) {
      t.match(await redeem(...both), '"error":"invalid_request"')
      t.match(events.at(-1), { reason: 'authentication_repeated' })
    }
  }
  t.match(await redeem(BASIC), '"token_type":"Bearer"', 'the code is still good')
})
