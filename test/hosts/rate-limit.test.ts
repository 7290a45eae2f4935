// A config.rateLimit of routeOptions needs @fastify/rate-limit, registered before the plugin: a warning at start says
// that nothing is limited. What happens where it is: instead.test.ts.
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startApp } from '../app.ts'
import { capture } from '../helpers/log.ts'

const WARNING = 'routeOptions has a config.rateLimit, but @fastify/rate-limit is not registered before the plugin'

const add = (app: FastifyInstance) => app.register(rateLimit, { global: false })
const limited = { config: { rateLimit: { max: 1000 } } }

interface Row {
  host?: { prepare?: typeof add, finish?: typeof add }
  routeOptions: object
  warnings: number
}

const rows: Record<string, Row> = {
  before: { host: { prepare: add }, routeOptions: limited, warnings: 0 },
  after: { host: { finish: add }, routeOptions: limited, warnings: 1 },
  'never, for one route': { routeOptions: (route: string) => route === 'user' ? limited : {}, warnings: 1 },
  'never, and no limit is asked for': { routeOptions: { config: { rateLimit: false } }, warnings: 0 }
}

for (const [name, { host, routeOptions, warnings }] of Object.entries(rows)) {
  t.test(`registered ${name}`, async (t) => {
    const log = capture()
    await startApp(t, { options: { routeOptions }, server: { logger: log.logger }, ...host })
    t.equal(log.text().split(WARNING).length - 1, warnings)
  })
}
