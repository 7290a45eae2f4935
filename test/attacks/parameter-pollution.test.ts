// Someone sends a parameter twice, or in a second place, hoping that a gateway, the framework and the service each take
// another one: a redirect_uri that was checked and one that is used, a client that was authenticated and one that is
// named. Or under a name that every JavaScript object has: were parameters kept in plain objects, `__proto__` could
// change them all, and a client_id `constructor` would be found among the portals. A parameter that comes twice is
// refused; a name that differs in any character is another parameter.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { BASIC, tokenForm } from '../helpers/raw-requests.ts'

const inherited = [
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'length', 'then', 'size'
]

/** Ways to write a name that some parser may take for the name itself. */
const aliases = (name: string): string[] => [
  `${name}[]`, `${name}[0]`, `${name}[a]`, `${name}%00`, `%20${name}`, `${name}%20`, `+${name}`, `${name}+`,
  name.toUpperCase(), name.replace('_', '-'), name.replace('_', '%C2%A0'), name.replace('_', '%EF%BC%BF'), `${name};`,
  `;${name}`, `${name}%0a`, `%EF%BB%BF${name}`, name.replace('c', '%D1%81'), `%2561${name}`, `${name}%26`,
  `${name}%E2%80%8B`, `.${name}`, `?${name}`, `__proto__[${name}]`, `__proto__.${name}`, `${name}[__proto__]`,
  `constructor[prototype][${name}]`, '', ...inherited
].filter((alias) => alias !== name)

const first = (name: string) => `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`

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
  const isRefused = async (body: string, reason: string, { status = 400, query = '', headers = {} } = {}) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const asked = { method: 'POST', headers: { ...type, ...headers }, body }
    const response = await portal.send(`/oauth/token${query}`, asked)
    t.strictSame([response.status, events.at(-1)?.reason], [status, reason], body.replaceAll(code, 'CODE') + query)
  }
  for (const [name, value] of [...form, ['scope', 'x'], ['unknown', 'x']] as const) {
    const present = `${form}${form.has(name) ? '' : `&${name}=x`}`
    const same = `${name}=${encodeURIComponent(value)}`
    for (const second of [same, `${name}=evil`, `${name}=`, name, `${first(name)}=evil`]) {
      await isRefused(`${present}&${second}`, 'parameter_repeated')
      await isRefused(`${second}&${present}`, 'parameter_repeated')
    }
  }
  for (const [name, value] of form) {
    const rest = without(form, name)
    const isMissing = async (body: string) => name === 'client_secret'
      ? await isRefused(body, 'authentication_missing', { status: 401 })
      : await isRefused(body, `${name}_missing`)
    for (const more of ['', `&${name}=`, `&${name}`]) await isMissing(rest + more)
    for (const alias of aliases(name)) await isMissing(`${rest}&${alias}=${encodeURIComponent(value)}`)
  }
  for (const query of ['client%5Fsecret=x', 'client_secret=x&client_secret=', 'a=b&client_id=x&client_id']) {
    await isRefused(String(form), 'credentials_in_url', { query: `?${query}` })
  }
  await isRefused(without(form, 'code'), 'code_missing', { query: `?${new URLSearchParams({ code })}` })
  const other = `${tokenForm(code, false)}&client_id=other`
  await isRefused(other, 'authentication_repeated', { headers: { authorization: BASIC } })
  t.equal((await portal.token({ code })).status, 200, 'none of them redeemed the code')
})

t.test('at the authorization endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const query = new URLSearchParams(
    { client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 's' }
  )
  const ask = async (query: string) =>
    await wire(url).send(`/oauth/authorize?${query}`, { headers: { 'x-user': 'alice' } })
  for (const name of [...query.keys(), 'scope', 'unknown']) {
    const present = `${query}${query.has(name) ? '' : `&${name}=x`}`
    for (const both of [
      `${present}&${name}=evil`, `${name}=evil&${present}`, `${present}&${name}`, `${present}&${first(name)}=evil`
    ]) {
      const { status, headers, redirect, text } = await ask(both)
      const identifies = ['client_id', 'redirect_uri'].includes(name)
      t.strictSame([status, events.at(-1)?.reason],
        identifies ? [400, `${name}_repeated`] : [302, 'parameter_repeated'], both.slice(-40))
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

t.test('the names of Object.prototype are unknown as client_id, and it is not changed', async (t) => {
  const before = Reflect.ownKeys(Object.prototype)
  const { url, events } = await startHost(t, { portal: [PORTAL] })
  const portal = wire(url)
  for (const name of inherited) {
    await portal.authorize({ client_id: name })
    t.equal(events.at(-1)?.reason, 'client_id_unknown', name)
    for (const secret of [name, 'undefined', 'null', '[object Object]', String(Object)]) {
      await portal.token({ client_id: name, client_secret: secret, code: 'x' })
      t.equal(events.at(-1)?.reason, 'client_unknown', secret)
    }
    const code = await portal.code('alice', { [name]: PORTAL.clientId })
    t.equal((await portal.token({ code, [name]: PORTAL.clientSecret })).status, 200, `${name} is ignored`)
  }
  t.strictSame(Reflect.ownKeys(Object.prototype), before)
})
