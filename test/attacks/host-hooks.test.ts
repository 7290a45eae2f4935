// Someone makes the host's own code fail, by signing in at the right moment or with the right data: its audit code
// throws, its session store is down. The process lives, and the response is the documented one.
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { hostOptions, recordOf, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import { capture } from '../helpers/log.ts'

const thrown: unknown[] = [
  new Error('down'), null, undefined, 'text', Object.create(null),
  Object.assign(new Error('teapot'), { statusCode: 418 })
]
const records: unknown[] = [
  1, 'alice', [], {}, true, new Proxy({}, { get: () => 'x' }), Object.create(null), { toJSON: () => ({}) }, new Map(),
  () => {}
]

t.test('hooks that throw, or return an invalid record', async (t) => {
  const log = capture()
  let currentUser: (() => unknown) | undefined
  let portalEligibility: (() => unknown) | undefined
  const { url, events } = await startHost(t, {
    currentUser: () => currentUser?.() as never ?? { id: 'alice', eligible: true },
    portalEligibility: () => portalEligibility?.() as never ?? recordOf('alice')
  }, { server: { logger: log.logger } })
  const fails = async (reason: string) => {
    const { redirect } = await wire(url).authorize({ state: 'mine' })
    const found = [redirect.get('error'), redirect.get('state'), events.at(-1)?.reason]
    const lines = log.text().split(`"reason":"${reason}"`).length - 1
    t.strictSame(found, ['server_error', 'mine', reason], `${reason}, value ${lines}`)
    t.equal(lines, events.filter((event) => event.reason === reason).length, 'each is logged once')
  }
  const failures = thrown.flatMap((value) => [() => { throw value }, async () => { throw value }])
  for (currentUser of failures) await fails('current_user_failed')
  currentUser = undefined
  for (portalEligibility of failures) await fails('portal_eligibility_failed')
  for (const record of records) {
    portalEligibility = () => record
    await fails('user_information_invalid')
  }
})

t.test('a host forgets to return its reply: no code follows the page for the second factor', async (t) => {
  for (const asked of ['currentUser', 'portalEligibility']) {
    // Before 5.12, Fastify ends the process of a host that makes this mistake.
    const app = Fastify()
    t.teardown(() => app.close())
    // As a session store does: `reply.sent` is false until it is done.
    app.addHook('onSend', async () => { await setTimeout(1) })
    const events: PartnerSsoEvent[] = []
    const ask = (reply: FastifyReply) => { reply.redirect('/second-factor') }
    await app.register(partnerSso, hostOptions({
      currentUser (_request, reply) {
        if (asked === 'currentUser') ask(reply)
        return { id: 'alice', eligible: true }
      },
      portalEligibility (_user, { reply }) {
        if (asked === 'portalEligibility') ask(reply)
        return recordOf('alice')
      },
      onEvent: (event) => events.push(event)
    }))
    const { headers } = await wire('', undefined, { fetch: injecting(app) }).authorize()
    t.notMatch(headers.get('location'), /code=/, asked)
    t.match(events, [{ reason: asked === 'currentUser' ? 'current_user_failed' : 'portal_eligibility_failed' }], asked)
  }
})
