// @fastify/autoload registers the plugin from a file, with the options that it and fastify-cli merge in.
import autoload from '@fastify/autoload'
import { join } from 'node:path'
import t from 'tap'
import { capture } from '../helpers/log.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

const file = `
import partnerSso from ${url('../../lib/index.js')}
import { hostOptions } from ${url('../helpers/host.js')}
export default partnerSso
export const autoConfig = { ...hostOptions(), loginPage: '/login' }
`
// One that is named by fastify-plugin, and waits for it.
const dependent = `
import fp from ${JSON.stringify(import.meta.resolve('fastify-plugin'))}
export default fp(async () => {}, { name: 'dependent', dependencies: ['fastify-partner-sso'] })
`

t.test('options that are not ours: one warning', async (t) => {
  const dir = join(t.testdir({ plugins: { 'dependent.mjs': dependent, 'sso.mjs': file } }), 'plugins')
  const log = capture()
  const options = { prefix: '/sso', skipOverride: true, name: 'app', encapsulate: false, dir: '/app' }
  const { url } = await startHost(t, { prefix: '/registered' }, {
    server: { logger: log.logger },
    prepare: (app) => app.register(autoload, { dir, options })
  })
  await keepsContract(t, wire(`${url}/sso`))
  const warnings = log.text().match(/"level":40[^\n]*unknown options[^"\n]*/g) ?? []
  t.match(warnings, [/partner-sso: unknown options are ignored: skipOverride, name, encapsulate, dir$/])
  t.equal(warnings.length, 1)
})
