// Someone speaks HTTP/2, whose headers are no lines of text: a path with bytes that HTTP/1.1 would not let through, two
// Authorization headers, headers of HTTP/1.1 that mean nothing here. The rules are the same.
import { connect } from 'node:http2'
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { sayFrames } from './helpers/http2-frames.ts'
import { authorizePath, BASIC } from './helpers/raw.ts'
import { staysHere } from './helpers/return-to.ts'

interface Reply { status: number | 'refused', location: string | undefined, body: string }

/** One stream; a request that Node itself or the server refuses has no answer. */
async function ask (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body = ''): Promise<Reply> {
  return await new Promise((resolve) => {
    const refused = () => resolve({ status: 'refused', location: undefined, body: '' })
    try {
      const stream = session.request(headers, { endStream: body === '' })
      let text = ''
      let head: Record<string, unknown> = {}
      stream.on('response', (incoming) => { head = incoming })
      stream.setEncoding('utf8').on('data', (data: string) => { text += data })
      stream.on('error', refused)
      stream.on('end', () =>
        resolve({ status: Number(head[':status']), location: head.location as string | undefined, body: text })
      )
      if (body !== '') stream.end(body)
    } catch {
      refused()
    }
  })
}

await t.test('over HTTP/2', async (t) => {
  const { url, events } = await startHost(
    t,
    { loginPage: '/login' },
    { server: { http2: true } as FastifyServerOptions }
  )
  const session = connect(url)
  t.teardown(() => session.destroy())
  const query = `client_id=${PORTAL.clientId}&redirect_uri=${encodeURIComponent(PORTAL.redirectUri)}&response_type=code`

  const { location } = await ask(session, { ':path': `/oauth/authorize?${query}&state=s`, 'x-user': 'alice' })
  const code = new URL(location as string).searchParams.get('code') as string
  const form = new URLSearchParams({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code
  }).toString()

  for (const byte of Array.from({ length: 0x80 }, (_, index) => 0x80 + index)) {
    const state = `a${String.fromCharCode(byte)}b`
    const answer = await ask(session, { ':path': `/oauth/authorize?${query}&state=${state}`, 'x-user': 'alice' })
    if (answer.status === 'refused') continue
    t.match(answer.location, /^https:\/\/portal\.example\/oauth\/callback\?[\x21-\x7e]+$/, `a byte ${byte}`)
    const login = await ask(session, { ':path': `/oauth/authorize?${query}&state=${state}` })
    t.match(login.location, /^\/login\?return_to=[\x21-\x7e]+$/)
  }
  const post = { ':method': 'POST', ':path': '/oauth/token', 'content-type': 'application/x-www-form-urlencoded' }
  const doubled = await ask(session, { ...post, ':path': '/oauth/token?client_secret=x' }, form)
  t.equal(doubled.status, 400)
  t.equal(events.at(-1)?.reason, 'credentials_in_url')
  const { status, body } = await ask(session, post, form)
  t.equal(status, 200, 'the code is still good')
  const token = JSON.parse(body).access_token as string
  t.equal((await ask(session, { ':path': '/oauth/user', authorization: `Bearer ${token}` })).status, 200)
  t.equal((await ask(session, { ':path': '/oauth/user', authorization: `Bearer ${token}` })).status, 401)
})

await t.test('a path that leads elsewhere', async (t) => {
  const { url } = await startHost(
    t,
    { loginPage: '/login' },
    {
      // So that each of them comes to the endpoint.
      server: {
        http2: true,
        rewriteUrl: ({ url }: { url?: string }) => `/oauth/authorize?${url?.split('?').slice(1).join('?')}`
      } as unknown as FastifyServerOptions
    }
  )
  const query = new URLSearchParams({
    client_id: PORTAL.clientId,
    redirect_uri: PORTAL.redirectUri,
    response_type: 'code',
    state: 's'
  }).toString()
  const session = connect(url)
  t.teardown(() => session.destroy())
  let answered = 0
  for (const path of [
    '//evil.example/oauth/authorize',
    '///evil.example/',
    '/\\evil.example/oauth/authorize',
    '/\\/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/%2f/evil.example',
    '/%5cevil.example',
    '/@evil.example',
    'http://evil.example/oauth/authorize',
    '/\t/evil.example/oauth/authorize',
    '/\u0000/oauth/authorize',
    '/\r\nx: y/oauth/authorize',
    'oauth/authorize',
    '*',
    ''
  ]) {
    const { status, location } = await ask(session, { ':path': `${path}?${query}` })
    if (status === 'refused') continue
    answered++
    t.equal(status, 302, JSON.stringify(path))
    const [, returnTo] = /^\/login\?return_to=([\x21-\x7e]+)$/.exec(location as string) as RegExpExecArray
    t.ok(staysHere(decodeURIComponent(returnTo as string)), JSON.stringify(path))
  }
  t.ok(answered >= 9, `${answered} came to the endpoint; nghttp2 refuses what does not begin with a slash`)
})

await t.test('what no client library sends', async (t) => {
  const { url, events } = await startHost(t, {}, { server: { http2: true } as FastifyServerOptions })
  const session = connect(url)
  t.teardown(() => session.destroy())
  const authorization = { ':path': authorizePath('s'), 'x-user': 'alice' }
  const { location } = await ask(session, authorization)
  const code = new URL(location as string).searchParams.get('code') as string
  const form = new URLSearchParams({
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code
  }).toString()
  const to = (method: string, path: string) =>
    [
      [':method', method],
      [':path', path],
      [':scheme', 'http'],
      [':authority', 'partner.example']
    ] as const
  const post = [...to('POST', '/oauth/token'), ['content-type', 'application/x-www-form-urlencoded']] as const

  for (const second of [BASIC, 'Basic eDp4', 'Bearer x', '']) {
    for (const both of [[BASIC, second], [second, BASIC]]) {
      events.length = 0
      const body = await sayFrames(url, [...post, ...both.map((value) => ['authorization', value] as const)], form)
      t.match(body, '"error":"invalid_request"')
      t.strictSame(events.map(({ reason }) => reason), ['authentication_repeated'])
    }
  }
  // nghttp2 resets the stream of such a request (RFC 9113 section 8.2.2): no route sees it.
  for (const hop of [
    ['connection', 'close'],
    ['transfer-encoding', 'chunked'],
    ['upgrade', 'h2c'],
    ['Authorization', BASIC],
    [':authority', 'x'],
    [':path', '/oauth/user']
  ] as const) {
    events.length = 0
    t.equal(await sayFrames(url, [...post, ['authorization', BASIC], hop], form), 'refused', hop.join(': '))
    t.strictSame(events, [])
  }

  t.equal(
    await sayFrames(url, [...post, ['authorization', BASIC], ['content-length', '1']], form),
    'refused',
    'a length that is not true'
  )
  t.not(events.at(-1)?.type, 'token_issued')

  events.length = 0
  const answer = await sayFrames(url, [...post, ['authorization', BASIC]], form)
  t.match(answer, '"token_type":"Bearer"', 'the code is still good, and this is how it is redeemed')
  const token = JSON.parse(answer).access_token as string
  t.match(
    await sayFrames(url, [
      ...to('GET', '/oauth/user'),
      ['authorization', `Bearer ${token}`],
      ['authorization', `Bearer ${token}`]
    ]),
    '"error":"invalid_request"'
  )
  t.equal(events.at(-1)?.reason, 'authorization_malformed')
  t.match(
    await sayFrames(url, [...to('GET', '/oauth/user'), ['authorization', `Bearer ${token}`]]),
    '"external_id":"alice"'
  )
})
