// @fastify/rate-limit adds itself to the routes that are registered after it: what `config.rateLimit` does in either
// order, and who is warned.
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const WARNING = /routeOptions has a config\.rateLimit, but @fastify\/rate-limit is not registered before the plugin/

type Order = 'before' | 'after' | 'never'

/** A host that limits these routes. */
async function limited (
  t: Test, routeOptions: PartnerSsoOptions<User>['routeOptions'], order: Order = 'before'
): Promise<{ url: string, warnings: number }> {
  const lines: string[] = []
  const add = (when: Order) => (app: FastifyInstance): void => {
    if (order === when) app.register(rateLimit, { global: false })
  }
  const { url } = await startHost(t, { routeOptions }, {
    server: { logger: { level: 'warn', stream: { write: (line) => { lines.push(line) } } } },
    prepare: add('before'),
    finish: add('after')
  })
  return { url, warnings: lines.filter((line) => WARNING.test(line)).length }
}

const LIMIT = { config: { rateLimit: { max: 10 } } }

/** How often each status came for wrong secrets. */
async function guesses (url: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let count = 0; count < 25; count++) {
    const { status } = await wire(url).token({ code: 'A'.repeat(44), client_secret: 'wrong' })
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

t.test('registered before the plugin: requests are limited', async (t) => {
  const { url, warnings } = await limited(t, LIMIT, 'before')
  t.strictSame(await guesses(url), { 401: 10, 429: 15 })
  t.equal(warnings, 0)
})

t.test('registered after it, or never: nothing is limited, and a warning at start says so', async (t) => {
  for (const order of ['after', 'never'] as const) {
    const { url, warnings } = await limited(t, LIMIT, order)
    t.strictSame(await guesses(url), { 401: 25 }, order)
    t.equal(warnings, 1, order)
  }
})

t.test('a limit of one route alone', async (t) => {
  const { url } = await limited(t, (route) => route === 'token' ? LIMIT : undefined)
  t.strictSame(await guesses(url), { 401: 10, 429: 15 })
  for (let count = 0; count < 25; count++) {
    const authorized = await wire(url).authorize({}, 'alice')
    t.equal(authorized.status, 302, `request ${count}`)
  }
  const late = await limited(t, (route) => route === 'token' ? LIMIT : undefined, 'after')
  t.equal(late.warnings, 1)
})

t.test('no warning where no limit is asked for', async (t) => {
  const off = { config: { rateLimit: false } } as object
  for (const routeOptions of [undefined, {}, { config: {} }, off]) {
    t.equal((await limited(t, routeOptions, 'never')).warnings, 0, JSON.stringify(routeOptions))
  }
})
