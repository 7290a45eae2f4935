// Processes are replaced one after the other by another build of the plugin, on one Redis: "Upgrade" of the runbook.
import t from 'tap'
import type partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { Fastify } from '../helpers/fastify.ts'
import { pluginOptions, RECORDS } from '../app.ts'
import { lib } from '../helpers/lib.ts'
import { prepared } from '../helpers/prepared.ts'
import { startRedis } from '../helpers/redis.ts'
import { inProcess } from '../wire.ts'

const { url: redis } = await prepared(() => startRedis(t))

/** A process with a build of its own, loaded anew. */
async function processOf (mocks: object) {
  const build = await t.mockImport<{ default: typeof partnerSso }>(lib('index.ts'), mocks)
  const events: PartnerSsoEvent[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(build.default, pluginOptions({ redis, onEvent: (event) => { events.push(event) } }))
  return { portal: inProcess(app), events }
}

/** Keys that are derived differently. */
class OtherKeys extends GrantKeys {
  constructor (prefix: string) {
    super(`v2 ${prefix}`)
  }
}

const one = await prepared(() => processOf({}))
const same = await prepared(() => processOf({}))
const other = await prepared(() => processOf({ [lib('grants/keys.ts')]: { GrantKeys: OtherKeys } }))

t.test('builds that derive the same keys share sign-ins', async (t) => {
  const code = await one.portal.code()
  const { json } = await same.portal.token({ code })
  t.strictSame((await one.portal.user(json.access_token)).json, RECORDS.ada)
  t.equal((await one.portal.token({ code })).status, 400)
})

t.test('builds that derive other keys share none, and leave those of the other alone', async (t) => {
  const [code, token] = [await one.portal.code(), await one.portal.accessToken()]
  t.equal((await other.portal.token({ code })).status, 400)
  t.equal((await other.portal.user(token)).status, 401)
  t.match(other.events, [{ reason: 'code_unknown' }, { reason: 'token_unknown' }])
  const { json } = await one.portal.token({ code })
  t.strictSame((await one.portal.user(json.access_token)).json, RECORDS.ada, 'no replay has revoked it')
  t.equal((await one.portal.user(token)).status, 200, 'nor was the token redeemed')
})
