// Someone names parameters after what every JavaScript object has: were parameters kept in plain objects, `__proto__`
// could change them all, and a client_id `constructor` would be found among the portals.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { authorizePath } from './helpers/raw.ts'
import { CODE } from './helpers/settings.ts'

const inherited = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  '__lookupGetter__',
  'isPrototypeOf',
  'length',
  'then',
  'size',
  'get',
  'has'
]
const keys = [
  ...inherited,
  '__proto__[client_id]',
  '__proto__.client_id',
  'constructor[prototype][client_id]',
  'constructor.prototype.client_secret',
  '__proto__[__proto__]',
  '[__proto__]',
  'client_id[__proto__]',
  'client_id.__proto__',
  '__proto__[]'
]

await t.test('as names and as values', async (t) => {
  const before = Reflect.ownKeys(Object.prototype).map(String)
  const { url, events } = await startHost(t)
  const portal = wire(url)

  for (const key of keys) {
    const code = await portal.code('alice', { [key]: PORTAL.clientId })
    t.equal(code?.length, CODE, `${key} at the authorization endpoint is ignored`)
    t.equal((await portal.token({ code, [key]: PORTAL.clientSecret })).status, 200, 'and at the token endpoint')

    t.equal(
      (await portal.authorize({ client_id: undefined, [key]: PORTAL.clientId })).status,
      400,
      'it stands for no client_id'
    )
    t.equal(events.at(-1)?.reason, 'client_id_missing')
    t.equal(
      (await portal.token({ client_secret: undefined, code: 'x', [key]: PORTAL.clientSecret })).status,
      400,
      'and for no client_secret'
    )
    t.equal(events.at(-1)?.reason, 'client_secret_missing')
    t.equal((await portal.token({ code: undefined, [key]: 'x' })).status, 400)
    t.equal(events.at(-1)?.reason, 'code_missing')
  }
  for (const name of inherited) {
    t.equal((await portal.authorize({ client_id: name })).status, 400, `there is no client "${name}"`)
    t.equal(events.at(-1)?.reason, 'client_id_unknown')
    for (const secret of [
      name,
      'undefined',
      'null',
      'true',
      '[object Object]',
      String(Object),
      'function Object() { [native code] }'
    ]) {
      t.equal((await portal.token({ client_id: name, client_secret: secret, code: 'x' })).status, 401)
      t.equal(events.at(-1)?.reason, 'client_unknown')
    }
    t.equal((await portal.token({ code: name })).status, 400)
    t.equal(events.at(-1)?.reason, 'code_malformed')
    t.equal((await portal.user(name)).status, 401)
    t.equal(events.at(-1)?.reason, 'token_unknown')
    const { redirect } = await portal.authorize({ state: name, response_type: name })
    t.equal(redirect.get('error'), 'unsupported_response_type')
    t.equal(redirect.get('state'), name)
  }
  const target = `${url}${authorizePath('s')}&__proto__=a&__proto__=b`
  const twice = await fetch(target, { redirect: 'manual' })
  t.match(twice.headers.get('location'), /error=invalid_request/, 'repeated is repeated')
  t.equal(events.at(-1)?.reason, 'parameter_repeated')

  t.strictSame(Reflect.ownKeys(Object.prototype).map(String), before, 'nothing was added to every object')
  t.strictSame(Object.keys({}), [])
})
