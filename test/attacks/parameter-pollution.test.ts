// Someone sends a parameter twice, or in a second place, hoping that a gateway, the framework and the service each take
// another one: a redirect_uri that was checked and one that is used, a client that was authenticated and one that is
// named. A parameter that comes twice is refused; a name that differs in any character is another parameter. Names that
// every JavaScript object has: unit/parameters, unit/portal.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { tokenForm } from '../helpers/raw-requests.ts'
import { wire } from '../helpers/wire.ts'

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
  `?${name}`,
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

t.test('at the token endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const form = tokenForm(code)
  const isRefused = async (body: string, reason: string, query = '') => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status } = await portal.send(`/oauth/token${query}`, { method: 'POST', headers, body })
    const expected = [reason === 'authentication_missing' ? 401 : 400, reason]
    t.strictSame([status, events.at(-1)?.reason], expected, body.replaceAll(code, 'CODE') + query)
  }
  for (const name of [...form.keys(), 'unknown']) {
    const present = `${form}${form.has(name) ? '' : `&${name}=x`}`
    for (const second of [`${name}=evil`, name, `${escaped(name)}=evil`]) {
      await isRefused(`${present}&${second}`, 'parameter_repeated')
      await isRefused(`${second}&${present}`, 'parameter_repeated')
    }
  }
  for (const [name, value] of form) {
    const reason = name === 'client_secret' ? 'authentication_missing' : `${name}_missing`
    for (const alias of aliases(name)) {
      await isRefused(`${without(form, name)}&${alias}=${encodeURIComponent(value)}`, reason)
    }
  }
  for (const query of ['client%5Fsecret=x', 'client_secret=x&client_secret=', 'a=b&client_id=x&client_id']) {
    await isRefused(String(form), 'credentials_in_url', `?${query}`)
  }
  await isRefused(without(form, 'code'), 'code_missing', `?code=${code}`)
  t.equal((await portal.token({ code })).status, 200, 'none of them redeemed the code')
})

t.test('at the authorization endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const query = new URLSearchParams(
    { client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 's' }
  )
  const ask = async (query: string) =>
    await wire(url).send(`/oauth/authorize?${query}`, { headers: { 'x-user': 'alice' } })
  for (const name of [...query.keys(), 'unknown']) {
    const present = `${query}${query.has(name) ? '' : `&${name}=x`}`
    for (const both of [`${present}&${name}=evil`, `${name}=evil&${present}`, `${present}&${escaped(name)}=evil`]) {
      const { status, headers, redirect, text } = await ask(both)
      const identifies = ['client_id', 'redirect_uri'].includes(name)
      t.strictSame([status, events.at(-1)?.reason],
        identifies ? [400, `${name}_repeated`] : [302, 'parameter_repeated'], both)
      t.notMatch(headers.get('location') + text, 'evil', both)
      t.equal(redirect.get('state'), identifies || name === 'state' ? null : 's', `neither is echoed: ${both}`)
    }
  }
  for (const [name, value] of query) {
    for (const alias of aliases(name)) {
      await ask(`${without(query, name)}&${alias}=${encodeURIComponent(value)}`)
      t.equal(events.at(-1)?.reason, `${name}_missing`, alias)
    }
  }
})
