// Someone sends the token request as another type of content, twice, in another charset or compressed, so that a
// parser of the host, or a gateway, reads something else than the service does. Only application/x-www-form-urlencoded
// is read.
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { request, say } from './helpers/raw.ts'

await t.test('types of content', async (t) => {
  const { url, events } = await startHost(
    t,
    {},
    {
      prepare: (app) => {
        app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
          done(null, Object.fromEntries(new URLSearchParams(body as string)))
        )
      }
    }
  )
  const portal = wire(url)
  const code = await portal.code()
  const parameters = {
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code
  }
  const form = new URLSearchParams(parameters).toString()
  const FORM = 'Content-Type: application/x-www-form-urlencoded'
  const attempt = async (headers: string[], body: string, ...reasons: string[]) => {
    const { statuses } = await say(url, request('POST /oauth/token', headers, body))
    t.strictSame(statuses, [400], `${headers.join(', ')} ${body.slice(0, 20).replaceAll(/[^\x20-\x7e]/g, '?')}`)
    t.ok(reasons.includes(events.at(-1)?.reason as string), String(events.at(-1)?.reason))
  }

  for (const type of [
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded-x',
    'application/x-www-form-urlencode',
    'xapplication/x-www-form-urlencoded',
    'text/x-www-form-urlencoded',
    'application/x-www-form-urlencoded, application/json',
    'application/json, application/x-www-form-urlencoded',
    'application/json; application/x-www-form-urlencoded',
    '*/*',
    'application/*',
    '*',
    'application',
    'application/',
    '/',
    ';',
    'application/x-www-form-urlencoded/x',
    'application x-www-form-urlencoded',
    '"application/x-www-form-urlencoded"',
    'application/x\u2010www-form-urlencoded'.replace('\u2010', '\u00ad'),
    '__proto__',
    'constructor'
  ]) {
    await attempt([`Content-Type: ${type}`], form, 'content_type_unsupported')
  }
  await attempt([], form, 'content_type_unsupported')
  await attempt(['Content-Type:'], form, 'content_type_unsupported')
  await attempt(['Content-Type: application/json', FORM], form, 'content_type_unsupported')
  await attempt(['Content-Type: application/json'], JSON.stringify(parameters), 'content_type_unsupported')
  await attempt(['Content-Type: text/plain'], '', 'content_type_unsupported')
  await attempt([], '', 'content_type_unsupported')

  // Read as the bytes they are; what is no form in UTF-8 holds none of the parameters, or cannot be read.
  await attempt([FORM], JSON.stringify(parameters), 'grant_type_missing', 'body_unreadable')
  await attempt(
    [FORM],
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    'grant_type_missing',
    'body_unreadable'
  )
  await attempt(
    [`${FORM}; charset=utf-16le`],
    Buffer.from(form, 'utf16le').toString('latin1'),
    'grant_type_missing',
    'body_unreadable'
  )
  await attempt(
    [`${FORM}; charset=utf-7`],
    form.replace('grant_type', '+AGc-rant_type'),
    'grant_type_missing',
    'body_unreadable'
  )
  await attempt(
    [FORM, 'Content-Encoding: gzip'],
    gzipSync(form).toString('latin1'),
    'grant_type_missing',
    'body_unreadable'
  )
  await attempt([FORM], `\u00ef\u00bb\u00bf${form}`, 'client_id_missing')
  await attempt([FORM], '\u00ff\u00fe', 'body_unreadable')
  for (const invalid of ['%ff', '\u00ff', '%c3', '\u00c3', '%ed%a0%80', '\u00ed\u00a0\u0080']) {
    await attempt([FORM], `${form}&x=${invalid}`, 'body_unreadable')
  }
  await attempt([FORM], '', 'grant_type_missing', 'body_unreadable')

  t.equal(
    (await portal.token({ code }, { 'content-type': 'Application/X-WWW-Form-Urlencoded ; charset=ISO-8859-1' }))
      .status,
    200,
    'the type is read in any case, a charset says nothing (RFC 6749 appendix B), and the code was not used up'
  )
})
