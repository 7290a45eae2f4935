// @fastify/autoload and fastify-cli register the plugin with options of their own merged in, and other plugins wait for
// it by its name.
import fp from 'fastify-plugin'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { pluginOptions, startApp } from '../app.ts'
import { capture } from '../helpers/log.ts'
import { wire } from '../wire.ts'

const merged = { prefix: '/sso', skipOverride: true, name: 'app', encapsulate: false, dir: '/app' }
const dependent = fp(async () => {}, { name: 'dependent', dependencies: ['fastify-partner-sso'] })

t.test('options that are not ours: one warning', async (t) => {
  const log = capture()
  const { url } = await startApp(t, {
    options: { prefix: '/registered' },
    server: { logger: log.logger },
    async prepare (app) {
      await app.register(partnerSso, { ...pluginOptions(), ...merged } as object as never)
      await app.register(dependent)
    }
  })
  await keepsContract(t, wire(`${url}/sso`))
  const warnings = log.text().match(/"level":40[^\n]*unknown options[^"\n]*/g) ?? []
  t.match(warnings, [/partner-sso: unknown options are ignored: skipOverride, name, encapsulate, dir$/])
  t.equal(warnings.length, 1)
})
