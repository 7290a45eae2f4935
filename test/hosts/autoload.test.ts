// @fastify/autoload registers the plugin from a file, with the options that it and fastify-cli merge in.
import autoload from '@fastify/autoload'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { capture } from '../attacks/helpers/log.ts'
import { wire } from '../helpers/wire.ts'

const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

const file = `
import partnerSso from ${url('../../lib/index.ts')}
import { hostOptions } from ${url('../helpers/host.ts')}
export default partnerSso
export const autoConfig = { ...hostOptions(), loginPage: '/login' }
`
// One that is named by fastify-plugin, and waits for it.
const dependent = `
import fp from ${JSON.stringify(import.meta.resolve('fastify-plugin'))}
export default fp(async () => {}, { name: 'dependent', dependencies: ['fastify-partner-sso'] })
`

/** An app whose plugins are loaded from a folder, with the options merged into those of each. */
async function start (t: Test, options: object) {
  const dir = join(t.testdir({ plugins: { 'dependent.mjs': dependent, 'sso.mjs': file } }), 'plugins')
  const log = capture()
  const { app, url } = await startHost(t, { prefix: '/registered' }, {
    server: { logger: log.logger },
    prepare: (app) => app.register(autoload, { dir, options })
  })
  const warnings = log.text().split('\n').filter((line) => line.includes('unknown options'))
  return { app, url, warnings }
}

t.test('as it is', async (t) => {
  const { url, warnings } = await start(t, {})
  await keepsContract(t, wire(url))
  t.strictSame(warnings, [])
})

t.test('with options that are not ours: one warning', async (t) => {
  const { url, warnings } = await start(t, { skipOverride: true, name: 'app', encapsulate: false, dir: '/app' })
  await keepsContract(t, wire(url))
  t.equal(warnings.length, 1)
  const message = 'partner-sso: unknown options are ignored: skipOverride, name, encapsulate, dir'
  t.match(JSON.parse(warnings[0] as string), { level: 40, msg: message })
})

t.test('with a prefix', async (t) => {
  const { app, url } = await start(t, { prefix: '/sso' })
  await keepsContract(t, wire(`${url}/sso`))
  const query = new URLSearchParams({ client_id: PORTAL.clientId })
  t.equal((await app.inject(`/oauth/authorize?${query}`)).statusCode, 404)
})
