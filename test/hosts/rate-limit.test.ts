// A limit with @fastify/rate-limit: it holds back a flood and lets the sign-ins of the portal through, which come from
// few addresses; and who is warned that nothing is limited.
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const WARNING = /routeOptions has a config\.rateLimit, but @fastify\/rate-limit is not registered before the plugin/

interface Limited {
  routeOptions?: PartnerSsoOptions<User>['routeOptions']
  /** When the host registers @fastify/rate-limit. Default: before the plugin. */
  order?: 'before' | 'after' | 'never'
  /** Requests in a minute to all routes of the app together that have no limit of their own. */
  global?: number
  trustProxy?: FastifyServerOptions['trustProxy']
}

/** A host that limits its routes. */
async function limited (t: Test, host: Limited): Promise<{ url: string, warnings: number }> {
  const { routeOptions, order = 'before', global, trustProxy = false } = host
  const lines: string[] = []
  const add = (when: string) => (app: FastifyInstance): void => {
    if (order === when) app.register(rateLimit, global === undefined ? { global: false } : { max: global })
  }
  const { url } = await startHost(t, { routeOptions }, {
    server: { trustProxy, logger: { level: 'warn', stream: { write: (line) => { lines.push(line) } } } },
    prepare: add('before'),
    finish: add('after')
  })
  return { url, warnings: lines.filter((line) => WARNING.test(line)).length }
}

/** The recipe: for each address far more than the sign-ins of a minute, where the servers of the portal ask. */
const MOST = 100
const recipe: Limited['routeOptions'] = (route) =>
  route === 'authorize' ? {} : { config: { rateLimit: { max: MOST } } }

/** What the proxy in front adds to the header that the client may have sent. */
const from = (address: string, forged?: string) =>
  ({ 'x-forwarded-for': [forged ?? [], address].flat().join(', ') })

const PROXY = '127.0.0.1'
const PORTAL_SERVER = from('203.0.113.7')

/** Sign-ins of the portal, one after the other; returns how many succeed. */
async function signIns (url: string, count: number): Promise<number> {
  const portal = wire(url)
  let completed = 0
  for (let index = 0; index < count; index++) {
    const { redirect } = await portal.authorize({}, 'alice', from(`203.0.114.${index}`))
    const { status, text } = await portal.token({ code: redirect.get('code') as string }, PORTAL_SERVER)
    if (status !== 200) continue
    const user = await portal.user(JSON.parse(text).access_token, PORTAL_SERVER)
    if (user.status === 200) completed++
  }
  return completed
}

/** Wrong secrets from one address, each behind a forged one; returns how many get a response of the plugin. */
async function flood (url: string, count = MOST + 20): Promise<number> {
  let responses = 0
  for (let index = 0; index < count; index++) {
    const headers = from('198.51.100.9', `192.0.2.${index}`)
    const { status } = await wire(url).token({ code: 'A'.repeat(44), client_secret: 'wrong' }, headers)
    if (status === 401) responses++
  }
  return responses
}

const rows: Array<[name: string, host: Limited]> = [
  ['the recipe', { routeOptions: recipe, trustProxy: PROXY }],
  ['the recipe, in an app that limits all its routes', { global: 60, routeOptions: recipe, trustProxy: PROXY }]
]

for (const [name, host] of rows) {
  t.test(name, async (t) => {
    const { url, warnings } = await limited(t, host)
    t.equal(warnings, 0)
    t.equal(await flood(url), MOST, 'of the flood get through')
    t.equal(await signIns(url, 70), 70, 'the portal, at another address, is not held back')
  })
}

t.test('registered after the plugin, or never: nothing is limited, and a warning at start says so', async (t) => {
  for (const order of ['after', 'never'] as const) {
    const { url, warnings } = await limited(t, { routeOptions: recipe, order })
    t.equal(await flood(url), MOST + 20, order)
    t.equal(warnings, 1, order)
  }
})

t.test('no warning where no limit is asked for', async (t) => {
  const off = { config: { rateLimit: false } } as object
  for (const routeOptions of [undefined, {}, { config: {} }, off]) {
    const { warnings } = await limited(t, { routeOptions, order: 'never' })
    t.equal(warnings, 0, JSON.stringify(routeOptions))
  }
})
