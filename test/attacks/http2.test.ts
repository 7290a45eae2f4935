// Someone speaks HTTP/2, whose headers are no lines of text: a path with bytes that HTTP/1.1 would not let through, two
// Authorization headers, headers of HTTP/1.1 that mean nothing here. The rules are the same.
import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2'
import { type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'

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
      stream.on('end', () => resolve({ status: Number(head[':status']), location: head.location as string | undefined, body: text }))
      if (body !== '') stream.end(body)
    } catch {
      refused()
    }
  })
}

await t.test('over HTTP/2', async (t) => {
  const { url, events } = await startHost(t, { loginPage: '/login' }, { server: { http2: true } as FastifyServerOptions })
  const session = connect(url)
  t.teardown(() => session.destroy())
  const query = `client_id=${PORTAL.clientId}&redirect_uri=${encodeURIComponent(PORTAL.redirectUri)}&response_type=code`

  const { location } = await ask(session, { ':path': `/oauth/authorize?${query}&state=s`, 'x-user': 'alice' })
  const code = new URL(location as string).searchParams.get('code') as string
  const form = new URLSearchParams({ client_id: PORTAL.clientId, client_secret: PORTAL.clientSecret, redirect_uri: PORTAL.redirectUri, grant_type: 'authorization_code', code }).toString()

  for (const byte of Array.from({ length: 0x80 }, (_, index) => 0x80 + index)) {
    const state = `a${String.fromCharCode(byte)}b`
    const answer = await ask(session, { ':path': `/oauth/authorize?${query}&state=${state}`, 'x-user': 'alice' })
    if (answer.status === 'refused') continue
    t.match(answer.location, /^https:\/\/portal\.example\/oauth\/callback\?[\x21-\x7e]+$/, `a byte ${byte}`)
    const login = await ask(session, { ':path': `/oauth/authorize?${query}&state=${state}` })
    t.match(login.location, /^\/login\?return_to=[\x21-\x7e]+$/)
  }
  for (const path of ['//evil.example/oauth/authorize', '/\\evil.example/oauth/authorize', 'http://evil.example/oauth/authorize', '/\t/evil.example/oauth/authorize', '/\u0000/oauth/authorize', '/\r\nx: y/oauth/authorize', 'oauth/authorize', '*', '']) {
    const { status, location } = await ask(session, { ':path': `${path}?${query}&state=s` })
    if (location !== undefined && !location.startsWith('/login?return_to=%2Foauth')) t.fail(`${path} leads to ${location}`)
    t.ok(status === 'refused' || status < 500, path.replaceAll(/[^\x20-\x7e]/g, '?'))
  }

  const post = { ':method': 'POST', ':path': '/oauth/token', 'content-type': 'application/x-www-form-urlencoded' }
  t.equal((await ask(session, { ...post, authorization: ['Basic eDp4', 'Basic eDp4'] as unknown as string }, form)).status === 200, false, 'Authorization twice')
  const doubled = await ask(session, { ...post, ':path': '/oauth/token?client_secret=x' }, form)
  t.equal(doubled.status, 400)
  t.equal(events.at(-1)?.reason, 'credentials_in_url')
  const connectionSpecific = await ask(session, { ...post, 'transfer-encoding': 'chunked', connection: 'close', upgrade: 'h2c' }, form)
  t.not(connectionSpecific.status, 200, 'headers of HTTP/1.1')
  const { status, body } = await ask(session, post, form)
  t.equal(status, 200, 'the code is still good')
  const token = JSON.parse(body).access_token as string
  t.equal((await ask(session, { ':path': '/oauth/user', authorization: `Bearer ${token}` })).status, 200)
  t.equal((await ask(session, { ':path': '/oauth/user', authorization: `Bearer ${token}` })).status, 401)
})
