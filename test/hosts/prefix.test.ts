// Several registrations in one app, and a scope of the host around the plugin.
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { pluginOptions, RECORDS, startApp } from '../app.ts'
import { inProcess, wire } from '../wire.ts'

t.test('a scope with a prefix of its own, beside another registration', async (t) => {
  const portalEligibility = (person: string) => person === 'bob' ? null : RECORDS.ada
  const inner = pluginOptions({ prefix: '/inner', portalEligibility })
  const { url } = await startApp(t, {
    async finish (app) {
      await app.register(async (scope) => {
        await scope.register(partnerSso<string>, inner)
      }, { prefix: '/outer' })
    }
  })
  const [own, other] = [wire(`${url}/outer/inner`), wire(url)]
  await keepsContract(t, own)
  await keepsContract(t, other)
  t.equal((await own.authorize({}, 'bob')).redirect.get('error'), 'access_denied', 'each has its own hooks')
  t.ok(await other.code('bob'))
  for (const path of ['/outer', '/inner']) t.equal((await wire(url + path).user('x')).status, 404, path)
})

t.test('one prefix, and the host name decides', async (t) => {
  const at = (host: string) => ({ routeOptions: { constraints: { host } } })
  const { app } = await startApp(t, {
    options: at('one.example'),
    finish: (app) => app.register(partnerSso<string>, pluginOptions(at('two.example')))
  })
  for (const [host, status] of [['one.example', 401], ['two.example', 401], ['three.example', 404]] as const) {
    const { statusCode } = await app.inject({ url: '/oauth/user', headers: { host } })
    t.equal(statusCode, status, host)
  }
})

t.test('one host name, and all others', async (t) => {
  const constrained = { routeOptions: { constraints: { host: 'one.example' } }, loginPage: '/one' }
  const others = { loginPage: '/others' }
  for (const [name, first, second] of [
    ['the one first', constrained, others], ['the others first', others, constrained]
  ] as const) {
    const { app } = await startApp(t, {
      options: first,
      finish: (app) => app.register(partnerSso<string>, pluginOptions(second))
    })
    for (const [host, loginPage] of [['one.example', '/one'], ['two.example', '/others']] as const) {
      const { headers } = await inProcess(app).authorize({}, null, { host })
      t.match(headers.get('location'), new RegExp(`^${loginPage}\\?`), `${name}: ${host}`)
    }
  }
})
