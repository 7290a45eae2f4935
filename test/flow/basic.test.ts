// Each secret in the form, in HTTP Basic form-encoded (RFC 6749 section 2.3.1) and in HTTP Basic as it is: most client
// libraries do not encode.
import t from 'tap'
import type { Test } from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { basic, basicAsSent, wire } from '../helpers/wire.ts'

const SECRETS = ['a+b', 'a%b', 'a%zz', 'a%2Bb', 'a b', 'a:b', 'a/b=', 's3cr+t /%:=&~"<>']

async function portalWith (t: Test, clientId: string, clientSecret: string, portal?: (id: string) => undefined) {
  const registered = { ...PORTAL, clientId, clientSecret }
  const find = portal === undefined ? registered : (id: string) => portal(id) ?? (id === clientId ? registered : null)
  const { url } = await startHost(t, { portal: find })
  const at = wire(url, registered)
  const attempt = async (headers: Record<string, string> | undefined, changes = {}) => {
    const credentials = headers === undefined ? {} : { client_id: undefined, client_secret: undefined }
    const { status } = await at.token({ code: await at.code(), ...credentials, ...changes }, headers)
    return status
  }
  return attempt
}

for (const secret of SECRETS) {
  t.test(secret, async (t) => {
    const attempt = await portalWith(t, 'partner-123', secret)
    t.equal(await attempt(undefined), 200, 'form')
    t.equal(await attempt(basic('partner-123', secret)), 200, 'Basic, encoded')
    t.equal(await attempt(basicAsSent('partner-123', secret)), 200, 'Basic, as sent')
    for (const wrong of [`${secret} `, secret.slice(1), encodeURIComponent(encodeURIComponent(`${secret}%`))]) {
      t.equal(await attempt(basicAsSent('partner-123', wrong)), 401, `a wrong secret: ${wrong}`)
    }
    t.equal(await attempt(undefined, { client_secret: encodeURIComponent(`${secret}%`) }), 401)
  })
}

t.test('a client_id that differs when decoded: a portal function is asked for both', async (t) => {
  const asked: string[] = []
  const attempt = await portalWith(t, 'a+b', 's', (id) => { asked.push(id) })
  t.equal(await attempt(basicAsSent('a+b', 's')), 200)
  t.strictSame(asked.slice(-2), ['a b', 'a+b'])
  t.equal(await attempt(basicAsSent('a+b', 's'), { client_id: 'a+b' }), 200, 'the same in the form')
  t.equal(await attempt(basic('a+b', 's')), 200)
  t.equal(await attempt(basicAsSent('a+c', 's')), 401)
})
