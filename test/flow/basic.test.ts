// Each secret in the form, in HTTP Basic form-encoded (RFC 6749 section 2.3.1) and in HTTP Basic as it is: most client
// libraries do not encode.
import t from 'tap'
import { PORTAL, startApp } from '../app.ts'
import { basic, basicAsSent, wire } from '../wire.ts'

const SECRETS = ['a+b', 'a%b', 'a%zz', 'a%2Bb', 'a b', 'a:b', 's3cr+t /%:=&~"<>']

t.test('a right secret is accepted in each of the three ways, a wrong one in none', async (t) => {
  const asked: string[] = []
  const portals = SECRETS.map((clientSecret, at) => ({ ...PORTAL, clientId: `a+${at}`, clientSecret }))
  const { url } = await startApp(t, { options: {
    portal (id) {
      asked.push(id)
      return portals.find(({ clientId }) => clientId === id)
    }
  } })
  for (const { clientId, clientSecret, redirectUri } of portals) {
    const at = wire(url, { clientId, clientSecret, redirectUri })
    const form = { client_id: undefined, client_secret: undefined }
    const encodedTwice = encodeURIComponent(encodeURIComponent(`${clientSecret}%`))
    for (const [expected, changes, headers] of [
      [200, {}],
      [200, form, basic(clientId, clientSecret)],
      [200, form, basicAsSent(clientId, clientSecret)],
      [200, { ...form, client_id: clientId }, basicAsSent(clientId, clientSecret)],
      [401, { client_secret: encodeURIComponent(`${clientSecret}%`) }],
      [401, form, basicAsSent(clientId, `${clientSecret} `)],
      [401, form, basicAsSent(clientId, encodedTwice)],
      [401, form, basicAsSent('a+c', clientSecret)]
    ] as const) {
      const { status } = await at.token({ code: await at.code(), ...changes }, headers)
      t.equal(status, expected, `${clientSecret}: ${JSON.stringify([changes, headers])}`)
    }
  }
  t.strictSame(asked.slice(-2), ['a c', 'a+c'], 'a portal function is asked for both')
})
