// Ten incidents, played on purpose, and what is logged at the start: the lines that the runbook shows.
import type { Test } from 'tap'
import { PORTAL, recordOf } from '../../helpers/host.ts'
import { startRedis } from '../../helpers/redis.ts'
import { startScene } from './scene.ts'
import type { Line, Options, Scene } from './scene.ts'

/** Plays an incident. Returns the lines that answer the question. */
export type Incident = (t: Test) => Promise<Line[]>

/** The lines of one event. */
const ofEvent = (type: string) => ({ event }: Line): boolean => event === type

/** An incident of one app and no store but its own. */
const incident = (
  options: Options, play: (scene: Scene) => Promise<unknown>, answers: (line: Line) => boolean
): Incident => async (t) => {
  const scene = await startScene(t, options)
  await play(scene)
  return scene.lines().filter(answers)
}

/** A line that is logged at the start. */
const atStart = (options: object, pattern: RegExp): Incident => async (t) =>
  (await startScene(t, options)).lines().filter(({ msg }) => pattern.test(msg))

export const incidents: Record<string, Incident> = {
  'user denied': incident({
    portalEligibility (user, { request }) {
      request.log.info({ user: user.id }, 'no disputes in the contract of this client')
      return null
    }
  }, ({ portal }) => portal.authorize({}, 'ada'), ({ user, event }) => user !== undefined || event !== undefined),

  'record refused': incident({
    portalEligibility: ({ id }) => Object.assign(recordOf(id), { control_role: 'Client Read Only' as never })
  }, ({ portal }) => portal.authorize({}, 'ada'), ofEvent('sign_in_refused')),

  'error page': incident({}, ({ portal }) => portal.authorize({ redirect_uri: `${PORTAL.redirectUri}/` }, 'ada'),
    ofEvent('request_rejected')),

  'login loop': incident({ loginPage: '/login' }, ({ portal }) => portal.authorize({}, null),
    ofEvent('login_required')),

  'secret changed': incident({}, async ({ portal }) => {
    await portal.token({ code: await portal.code('ada'), client_secret: 'the new one' })
  }, ofEvent('client_authentication_failed')),

  'secret in use': incident({ portal: { ...PORTAL, clientSecret: ['the new one', PORTAL.clientSecret] } },
    ({ portal }) => portal.accessToken('ada'), ofEvent('token_issued')),

  'code replayed': incident({}, async ({ portal }) => {
    const code = await portal.code('ada')
    await portal.token({ code })
    await portal.token({ code })
  }, ofEvent('code_replayed')),

  async 'two processes' (t) {
    const [one, other] = [await startScene(t), await startScene(t)]
    await other.portal.token({ code: await one.portal.code('ada') })
    return other.lines().filter(ofEvent('request_rejected'))
  },

  async 'failover' (t) {
    const redis = await startRedis(t)
    const { portal, lines } = await startScene(t, { redis: redis.url })
    await redis.client.replicaof('127.0.0.1', 1)
    await portal.authorize({}, 'ada')
    await redis.client.replicaof('NO', 'ONE')
    while (await portal.code('ada') === null);
    return lines().filter(({ msg }) => msg.startsWith('partner-sso: the store is'))
  },

  'integration broken': incident({
    portal: (clientId) => ({ ...PORTAL, clientId, redirectUri: 'http://portal.example/oauth/callback' })
  }, ({ portal }) => portal.authorize({}, 'ada'), ofEvent('request_rejected')),

  'in one process': atStart({ loginPage: '/login' }, /memory of this process/),
  'no login page': atStart({}, /no loginPage/),
  'option ignored': atStart({ loginPage: '/login', ignorePattern: /test/ }, /unknown options/),

  async 'redis password' (t) {
    const { url, client } = await startRedis(t)
    await client.config('SET', 'requirepass', 'right')
    const { lines } = await startScene(t, { redis: url.replace('//', '//:wrong@') })
    return lines().filter(({ msg }) => msg.includes('refuses the user'))
  }
}
