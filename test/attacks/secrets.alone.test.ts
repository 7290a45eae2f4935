// Someone reads the log of the partner's app, written at `trace`, while users sign in: it has no secret and names no
// user. Every reason to refuse is provoked once, with the credentials, codes and tokens in all the wrong places, and
// is in the events under its reason code. A dump of the store: contract/checks/store.
// Alone: it looks for secrets in all that is logged.
import t from 'tap'
import type { Test } from 'tap'
import type { PartnerSsoEvent, PartnerSsoOptions } from '../../lib/index.ts'
import { refusals } from '../contract/refusals.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { VERIFIER, wire } from '../helpers/wire.ts'
import type { WireResponse, Wire } from '../helpers/wire.ts'
import { capture } from '../helpers/log.ts'
import { request, say, tokenForm } from '../helpers/raw-requests.ts'

const SECRETS = [PORTAL.clientSecret, 'the-secret-that-is-being-rotated-in']
const portal = { ...PORTAL, clientSecret: SECRETS }
const WRONG = 'a-wrong-secret-that-may-be-right-elsewhere'
const USERS = ['ada', 'alice', 'nobody'].map(recordOf)

/** The value in each way that someone may write it: as it is, encoded, or a part of a long one. */
function spellings (value: string): string[] {
  const bytes = Buffer.from(value)
  const isSecret = /^[\w-]{43,}$/.test(value)
  const parts = Array.from({ length: isSecret ? value.length - 16 : 0 }, (_, index) => value.slice(index, index + 16))
  const raw = isSecret ? [Buffer.from(value, 'base64url').toString('hex').slice(0, 24)] : []
  return [
    value, encodeURIComponent(value), new URLSearchParams({ '': value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1), bytes.toString('base64').replaceAll('=', '').slice(0, -1),
    bytes.toString('base64url').slice(0, -1), bytes.join(), bytes.toString('hex'), ...parts, ...raw
  ]
}

/** Texts that must not be found in log and events. */
class Confidential {
  readonly values = new Set([
    ...SECRETS, WRONG, VERIFIER, 'the old one', ...USERS.flatMap(({ email, name }) => [email, name])
  ])

  foundIn (text: string): string[] {
    return [...this.values].filter((value) => spellings(value).some((spelling) => text.includes(spelling)))
  }

  /** The portal's requests. All codes and tokens that it gets are noted. */
  noting (portal: Wire): Wire {
    const note = (response: WireResponse): WireResponse => {
      const secrets = [response.redirect.get('code'), /"access_token":"([^"]*)"/.exec(response.text)?.[1]]
      for (const secret of secrets) if (secret) this.values.add(secret)
      return response
    }
    return {
      ...portal,
      authorize: async (...given) => note(await portal.authorize(...given)),
      token: async (...given) => note(await portal.token(...given))
    }
  }
}

/** The portal's requests with secrets in all the wrong places. */
function careless (at: Wire, token: string): Wire {
  const secret = PORTAL.clientSecret
  return {
    ...at,
    authorize (changes, user, headers, more = '') {
      const query = new URLSearchParams({ client_secret: secret, access_token: token, password: WRONG })
      return at.authorize(changes, user, headers, `${more}&${query}`)
    },
    token: (changes, headers) =>
      at.token({ username: recordOf('ada').email, password: secret, access_token: token, ...changes }, headers),
    user: (token, headers) => at.user(token, { cookie: `token=${token}`, 'x-secret': secret, ...headers })
  }
}

interface Scene {
  url: string
  at: Wire
  confidential: Confidential
  log: ReturnType<typeof capture>
  events: PartnerSsoEvent[]
}

/** Nothing confidential is in the log or in the events of an app that is used so. */
async function logsNoSecret (
  t: Test, options: Partial<PartnerSsoOptions<User>>, use: (scene: Scene) => Promise<unknown>
): Promise<void> {
  const log = capture()
  const confidential = new Confidential()
  const server: object = { logger: log.logger, routerOptions: { useSemicolonDelimiter: true } }
  const { url, events } = await startHost(t, { portal, ...options }, { server })
  await use({ url, at: confidential.noting(wire(url)), confidential, log, events })
  t.match(log.text(), '"msg":"request completed"')
  t.strictSame(confidential.foundIn(log.text() + JSON.stringify(events)), [])
}

t.test('each refusal', async (t) => {
  const { url } = await startHost(t, { portal })
  const token = await wire(url).accessToken()
  for (const [reason, { options = {}, provoke }] of Object.entries(refusals)) {
    await logsNoSecret(t, options, async ({ at, confidential, events }) => {
      confidential.values.add(token)
      await provoke(careless(at, token))
      t.equal(events.at(-1)?.reason, reason, reason)
    })
  }
})

t.test('a sign-in, and mistakes of a careless portal', async (t) => {
  await logsNoSecret(t, { loginPage: '/login' }, async ({ url, at, log }) => {
    t.equal((await at.user(await at.accessToken())).status, 200)
    await at.authorize({ client_secret: PORTAL.clientSecret }, null)
    const token = await at.accessToken()
    for (const target of [
      `/oauth/user?access_token=${token}`, `/oauth/user?${token}`, `/oauth/user?client_id=a&token=${token}&state=x`,
      `/oauth/user#access_token=${token}`, `/oauth/user;access_token=${token}`, `/oauth/authorize;state=x;${WRONG}`,
      `/oauth/authorize?client_id=x&client_secret=${WRONG}&password=${WRONG}&state=a`, `/oauth/authorize?${WRONG}`,
      `/oauth/authorize??client_secret=${WRONG}`, `/oauth/authorize?a?code=${WRONG}`,
      `/oauth/authorize?client_id=y&state=x#client_secret=${WRONG}`, `http://${WRONG}@host/oauth/authorize?client_id=z`
    ]) await say(url, request(`GET ${target}`))
    const form = `${tokenForm(await at.code())}&code_verifier=${VERIFIER}`
    for (const target of [
      `/oauth/token?${form}`, `/oauth/token?state=${WRONG}&scope=${WRONG}`, `http://id:${WRONG}@host/oauth/token`
    ]) await say(url, request(`POST ${target}`, ['Content-Type: application/x-www-form-urlencoded'], 'x=y'))
    t.match(log.text(), '/oauth/authorize?client_id=x&…&state=a', 'expected parameters are still logged')
  })
})

t.test('Redis refuses to write, or is gone', async (t) => {
  const redis = await startRedis(t)
  await logsNoSecret(t, { redis: redis.url }, async ({ at, events }) => {
    const [code, token] = [await at.code(), await at.accessToken()]
    await redis.client.config('SET', 'maxmemory', '1')
    t.equal((await at.token({ code })).status, 503, 'out of memory: an error that repeats its command')
    t.equal((await at.authorize()).redirect.get('error'), 'temporarily_unavailable')
    redis.process.kill('SIGKILL')
    await new Promise((resolve) => redis.process.once('exit', resolve))
    t.equal((await at.user(token)).status, 503)
    t.equal(events.at(-1)?.reason, 'store_unavailable')
  })
  const nowhere = { redis: { host: '127.0.0.1', port: await freePort(), password: WRONG }, storeTimeout: 50 }
  await logsNoSecret(t, nowhere, async ({ at, events }) => {
    await at.authorize()
    t.equal(events.at(-1)?.reason, 'store_unavailable')
  })
})

t.test('the host\'s own log serializers keep working: the nearest to the route', async (t) => {
  const serializers = { req: ({ method, url }: { method: string, url: string }) => ({ mine: method, url }) }
  const farther = { req: () => ({ mine: 'farther' }) }
  for (const [where, options, logger] of [
    ['logger', {}, { serializers }],
    ['options', { logSerializers: serializers } as object, { serializers: farther }],
    ['routeOptions', { logSerializers: farther, routeOptions: { logSerializers: serializers } } as object, {}]
  ] as const) {
    const log = capture()
    const { url } = await startHost(t, options, { server: { logger: { ...log.logger, ...logger } } })
    await wire(url).send('/oauth/user?access_token=abc')
    t.match(log.text(), '"req":{"mine":"GET","url":"/oauth/user?…"}', where)
  }
})
