// Someone makes the host's own code fail, by signing in at the right moment or with the right data: its audit code
// throws, its session store is down. The process lives, and the response is the documented one.
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { hostOptions, recordOf, startHost } from '../helpers/host.ts'
import { capture } from '../helpers/log.ts'
import { inProcess, wire } from '../helpers/wire.ts'

const thrown: unknown[] = [
  new Error('down'),
  undefined,
  'text',
  Object.create(null),
  Object.assign(new Error('teapot'), { statusCode: 418 })
]
const records: unknown[] = [
  'alice',
  [],
  true,
  new Proxy({}, { get: () => 'x' }),
  Object.create(null),
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
  for (const value of thrown) {
    portalEligibility = undefined
    currentUser = () => { throw value }
    await fails('current_user_failed')
    currentUser = undefined
    portalEligibility = async () => { throw value }
    await fails('portal_eligibility_failed')
  }
  for (const record of records) {
    portalEligibility = () => record
    await fails('user_information_invalid')
  }
})

t.test('a host forgets to return its reply, and nobody: its response stays', async (t) => {
  const replies: Record<string, (reply: FastifyReply) => unknown> = {
    redirect: (reply) => reply.redirect('/mine'),
    page: (reply) => reply.code(401).type('text/html').send('<p>Mine'),
    JSON: (reply) => reply.code(401).send({ mine: true })
  }
  for (const [name, send] of Object.entries(replies)) {
    for (const nobody of [null, undefined]) {
      const currentUser = (_request: unknown, reply: FastifyReply) => {
        send(reply)
        return nobody
      }
      const portalEligibility = (_user: unknown, { reply }: { reply: FastifyReply }) => currentUser(null, reply)
      for (const hooks of [{ currentUser, loginPage: '/login' }, { portalEligibility }]) {
        const app = Fastify()
        t.teardown(() => app.close())
        app.addHook('onSend', async () => { await setTimeout(1) })
        const events: PartnerSsoEvent[] = []
        await app.register(partnerSso, hostOptions({ ...hooks, onEvent: (event) => events.push(event) }))
        const { status, headers } = await inProcess(app).authorize()
        t.equal(headers.get('location'), name === 'redirect' ? '/mine' : null, name)
        t.equal(status, name === 'redirect' ? 302 : 401, name)
        t.match(events, [{ reason: 'loginPage' in hooks ? 'current_user_replied' : 'not_eligible' }], name)
      }
    }
  }
})

t.test('a host forgets to return its reply: no code follows the page for the second factor', async (t) => {
  const ask = (reply: FastifyReply) => { reply.redirect('/second-factor') }
  for (const [reason, hooks] of Object.entries({
    current_user_failed: {
      currentUser (_request: unknown, reply: FastifyReply) {
        ask(reply)
        return { id: 'alice', eligible: true }
      }
    },
    portal_eligibility_failed: {
      portalEligibility (_user: unknown, { reply }: { reply: FastifyReply }) {
        ask(reply)
        return recordOf('alice')
      }
    }
  })) {
    // Before 5.12, Fastify ends the process of a host that makes this mistake.
    const app = Fastify()
    t.teardown(() => app.close())
    // As a session store does: `reply.sent` is false until it is done.
    app.addHook('onSend', async () => { await setTimeout(1) })
    const events: PartnerSsoEvent[] = []
    await app.register(partnerSso, hostOptions({ ...hooks, onEvent: (event) => events.push(event) }))
    const { headers } = await inProcess(app).authorize()
    t.notMatch(headers.get('location'), /code=/, reason)
    t.match(events, [{ reason }], reason)
  }
})
