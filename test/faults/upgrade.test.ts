// Processes are replaced one after the other by another build of the plugin, on one Redis: "Upgrade" of the runbook.
import t from 'tap'
import type partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { grantKeys } from '../../lib/grants/keys.ts'
import { Fastify } from '../helpers/fastify.ts'
import { hostOptions, recordOf } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'
import { prepared } from '../helpers/prepared.ts'
import { startRedis } from '../helpers/redis.ts'
import { inProcess } from '../helpers/wire.ts'

const { url: redis } = await prepared(() => startRedis(t))

/** A process with a build of its own, loaded anew. */
async function processOf (mocks: object) {
  const build = await t.mockImport<{ default: typeof partnerSso }>(lib('index.ts'), mocks)
  const events: PartnerSsoEvent[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(build.default, hostOptions({ redis, onEvent: (event) => { events.push(event) } }))
  return { at: inProcess(app), events }
}

/** Keys that are derived differently. */
const otherKeys: typeof grantKeys = (scope) => grantKeys(`v2 ${scope}`)

const one = await prepared(() => processOf({}))
const same = await prepared(() => processOf({}))
const other = await prepared(() => processOf({ [lib('grants/keys.ts')]: { grantKeys: otherKeys } }))

t.test('builds that derive the same keys share sign-ins', async (t) => {
  for (const [name, { at: begins }, { at: ends }] of [['there', one, same], ['back', same, one]] as const) {
    const code = await begins.code()
    const { json } = await ends.token({ code })
    t.strictSame((await begins.user(json.access_token)).json, recordOf('alice'), name)
    t.equal((await ends.token({ code })).status, 400, name)
  }
})

t.test('builds that derive other keys share none, and leave those of the other alone', async (t) => {
  for (const [name, { at: begins }, { at: ends, events }] of [['there', one, other], ['back', other, one]] as const) {
    const [code, token] = [await begins.code(), await begins.accessToken()]
    t.equal((await ends.token({ code })).status, 400, name)
    t.equal((await ends.user(token)).status, 401, name)
    t.match(events.slice(-2), [{ reason: 'code_unknown' }, { reason: 'token_unknown' }], name)
    const { json } = await begins.token({ code })
    t.strictSame((await begins.user(json.access_token)).json, recordOf('alice'), `${name}: no replay has revoked it`)
    t.equal((await begins.user(token)).status, 200, `${name}: nor was the token redeemed`)
  }
})
