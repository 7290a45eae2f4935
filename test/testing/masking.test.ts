// What travels in headers and bodies is shown without its secrets.
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { CLIENT_SECRET, REDIRECT_URI, SETTINGS } from '../helpers/spec-server.ts'

await t.test('cookies, credentials, codes and tokens, in whatever form a service repeats them', async (t) => {
  const baseUrl = await httpServer(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://x')
    if (pathname === '/oauth/authorize') {
      response.writeHead(302, { 'Set-Cookie': 'sid=the-session; Path=/', Location: `${REDIRECT_URI}?code=the/code+1&state=${searchParams.get('state')}` }).end()
      return
    }
    let body = ''
    request.on('data', (chunk) => { body += String(chunk) }).on('end', () => {
      const answer = { token_type: 'Bearer', access_token: 'the"token', refresh_token: 'another', echo: body, authorization: request.headers.authorization, parsed: Object.fromEntries(new URLSearchParams(body)) }
      response.writeHead(200, { 'Content-Type': 'application/json', 'X-Code': 'the/code 1', 'X-Token': 'the"token' }).end(JSON.stringify(answer))
    })
  })
  for (const clientAuthentication of ['form', 'basic'] as const) {
    const result = await portal({ baseUrl, ...SETTINGS, clientAuthentication }).signIn()
    const text = JSON.stringify(result)
    t.match(result, { ok: false, step: 15 })
    for (const secret of ['the-session', 'the/code', 'the%2Fcode', 'the"token', 'the\\\\\\"token', 'another', CLIENT_SECRET, encodeURIComponent(CLIENT_SECRET)]) t.notMatch(text, secret)
    t.notMatch(text, Buffer.from(`${SETTINGS.clientId}:`).toString('base64').slice(0, 12))
    t.match(text, 'sid=••••••••; Path=/')
    t.match(text, clientAuthentication === 'basic' ? 'Basic ••••••••' : 'client_secret=••••••••')
  }
})
