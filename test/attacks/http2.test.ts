// Someone speaks HTTP/2, whose headers are no lines of text: a path with bytes that HTTP/1.1 would not let through, two
// Authorization headers, headers of HTTP/1.1 that mean nothing here. The rules are the same.
import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import { sayFrames } from './helpers/http2-frames.ts'
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

t.test('what no client library sends', async (t) => {
  const { app, url, events } = await startHost(t, {}, { server: { http2: true } as FastifyServerOptions })
  const portal = wire('', undefined, { fetch: injecting(app) })
  const post = [[':method', 'POST'], [':path', '/oauth/token'], [':scheme', 'http'], [':authority', 'partner.example'],
    ['content-type', 'application/x-www-form-urlencoded']] as const
  const form = String(tokenForm(await portal.code(), false))
  const redeem = async (...headers: Array<readonly [string, string]>) => {
    events.length = 0
    return await sayFrames(url, [...post, ...headers], form)
  }
  for (const second of [BASIC, 'Basic eDp4', 'Bearer x', '']) {
    for (const both of [[BASIC, second], [second, BASIC]]) {
      t.match(await redeem(...both.map((value) => ['authorization', value] as const)), '"error":"invalid_request"')
      t.match(events, [{ reason: 'authentication_repeated' }])
    }
  }
  // nghttp2 resets the stream of such a request (RFC 9113 section 8.2.2): no route sees it.
  for (const header of [
    ['connection', 'close'], ['transfer-encoding', 'chunked'], ['upgrade', 'h2c'], ['Authorization', BASIC],
    [':authority', 'x'], [':path', '/oauth/user'], ['content-length', '1']
  ] as const) {
    t.equal(await redeem(['authorization', BASIC], header), 'refused', header.join(': '))
    t.notOk(events.some(({ reason }) => reason === 'ok'))
  }
  t.match(await redeem(['authorization', BASIC]), '"token_type":"Bearer"', 'the code is still good')
})
