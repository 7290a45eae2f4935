// Someone sends a parameter twice, or in a second place, hoping that a gateway, the framework and the service each take
// another one: a redirect_uri that was checked and one that is used, a client that was authenticated and one that is
// named. A parameter that comes twice is refused; a name that differs in any character is another parameter. Names that
// every JavaScript object has: unit/parameters, unit/portal.
import t from 'tap'
import { PORTAL, sessionOf, startApp } from '../app.ts'
import { inProcess, tokenForm } from '../wire.ts'

/** Ways to write a name that some parser may take for the name itself. */
const aliases = (name: string): string[] => [
  `${name}[]`,
  `${name}%00`,
  `%20${name}`,
  `${name}+`,
  name.toUpperCase(),
  name.replace('_', '-'),
  `;${name}`,
  name.replace('c', '%D1%81'),
  `%25${name}`,
  `__proto__[${name}]`,
  ''
].filter((alias) => alias !== name)

const escaped = (name: string) => `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`

/** The encoded parameters without one of them. */
function without (parameters: URLSearchParams, name: string): string {
  const rest = new URLSearchParams(parameters)
  rest.delete(name)
  return rest.toString()
}

const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: sessionOf('ada') }
const { clientId, redirectUri } = PORTAL

type Endpoint = [parameters: (code: string) => URLSearchParams, path: string, method: 'GET' | 'POST']

/** The parameters of each endpoint, and how they are sent. */
const endpoints: Record<string, Endpoint> = {
  token: [tokenForm, '/oauth/token', 'POST'],
  authorize: [
    () => new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 's' }),
    '/oauth/authorize?',
    'GET'
  ]
}

for (const [endpoint, [parametersOf, path, method]] of Object.entries(endpoints)) {
  t.test(`${endpoint}: a repeated parameter is refused, and an alias is another parameter`, async (t) => {
    const { app, events } = await startApp(t)
    const portal = inProcess(app)
    const code = await portal.code()
    const parameters = parametersOf(code)
    const isRefused = async (text: string, reason: string) => {
      const request = method === 'POST'
        ? portal.send(path, { method, headers, body: text })
        : portal.send(path + text, { headers })
      const response = await request
      t.equal(events.at(-1)?.reason, reason, text)
      t.notMatch(`${response.headers.get('location')} ${response.text}`, 'evil', text)
    }
    for (const name of [...parameters.keys(), 'unknown']) {
      const present = `${parameters}${parameters.has(name) ? '' : `&${name}=x`}`
      const isIdentified = endpoint === 'authorize' && ['client_id', 'redirect_uri'].includes(name)
      const reason = isIdentified ? `${name}_repeated` : 'parameter_repeated'
      for (const second of [`${name}=evil`, name, `${escaped(name)}=evil`]) {
        await isRefused(`${present}&${second}`, reason)
        await isRefused(`${second}&${present}`, reason)
      }
    }
    for (const [name, value] of parameters) {
      const reason = name === 'client_secret' ? 'authentication_missing' : `${name}_missing`
      for (const alias of aliases(name)) {
        await isRefused(`${without(parameters, name)}&${alias}=${encodeURIComponent(value)}`, reason)
      }
    }
    t.equal((await portal.token({ code })).status, 200, 'none of them redeemed the code')
  })
}

t.test('in the query of the token endpoint, credentials are refused and a code is not read', async (t) => {
  const { app, events } = await startApp(t)
  const portal = inProcess(app)
  const form = tokenForm(await portal.code())
  for (const [query, body, reason] of [
    ['client%5Fsecret=x', form, 'credentials_in_url'],
    ['client_secret=x&client_secret=', form, 'credentials_in_url'],
    ['client_secret=&client_secret=x', form, 'credentials_in_url'],
    ['a=b&client_id=x&client_id', form, 'credentials_in_url'],
    [`code=${form.get('code')}`, without(form, 'code'), 'code_missing']
  ] as const) {
    await portal.send(`/oauth/token?${query}`, { method: 'POST', headers, body: String(body) })
    t.equal(events.at(-1)?.reason, reason, query)
  }
})
