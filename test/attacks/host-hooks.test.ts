// Someone makes the host's own code fail, by signing in at the right moment or with the right data: its session store
// is down, a getter of its record throws. The process lives, and the response is the documented one.
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { pluginOptions, RECORDS, startApp } from '../app.ts'
import { until } from '../helpers/until.ts'
import { inProcess } from '../wire.ts'

const thrown: unknown[] = [
  undefined,
  Object.create(null),
  Object.assign(new Error('teapot'), { statusCode: 418 })
]
const records: unknown[] = [
  'alice',
  new Proxy({}, { get: () => 'x' }),
  Object.create(null),
  () => {}
]

t.test('hooks that throw, or return an invalid record', async (t) => {
  let currentUser = (): unknown => 'ada'
  let portalEligibility = (): unknown => null
  const { app, events } = await startApp(t, { options: {
    currentUser: () => currentUser() as never, portalEligibility: () => portalEligibility() as never
  } })
  const fails = async (reason: string, what: string) => {
    const { redirect } = await inProcess(app).authorize({ state: 'mine' })
    const found = [redirect.get('error'), redirect.get('state'), events.at(-1)?.reason]
    t.strictSame(found, ['server_error', 'mine', reason], what)
  }
  for (const [index, record] of records.entries()) {
    portalEligibility = () => record
    await fails('user_information_invalid', `record ${index}`)
  }
  portalEligibility = () => ({ get external_id () { throw new Error('of the database') } })
  await fails('portal_eligibility_failed', 'a getter of the record throws')
  for (const [index, value] of thrown.entries()) {
    portalEligibility = async () => { throw value }
    await fails('portal_eligibility_failed', `thrown ${index}`)
  }
  for (const [index, value] of thrown.entries()) {
    currentUser = () => { throw value }
    await fails('current_user_failed', `thrown ${index}`)
  }
})

/** How a host may reply, and what the browser gets. */
const replies: Record<string, [send: (reply: FastifyReply) => unknown, status: number, location: string | null]> = {
  redirect: [(reply) => reply.redirect('/second-factor'), 302, '/second-factor'],
  page: [(reply) => reply.code(401).type('text/html').send('<p>Mine'), 401, null],
  JSON: [(reply) => reply.code(401).send({ mine: true }), 401, null]
}

t.test('a host forgets to return its reply: no code follows; after nobody, its response stays', async (t) => {
  for (const [name, [send, ...expected]] of Object.entries(replies)) {
    const replying = <T>(value: T) => ({
      currentUser (_request: unknown, reply: FastifyReply) {
        send(reply)
        return value
      },
      portalEligibility (_user: unknown, { reply }: { reply: FastifyReply }) {
        send(reply)
        return value
      }
    })
    const { currentUser: nobody, portalEligibility: ineligible } = replying(null)
    const { currentUser } = replying('ada')
    const { portalEligibility } = replying(RECORDS.ada)
    for (const [reason, options] of Object.entries({
      current_user_replied: { currentUser: nobody, loginPage: '/login' },
      not_eligible: { portalEligibility: ineligible },
      current_user_failed: { currentUser },
      portal_eligibility_failed: { portalEligibility }
    })) {
      // Before 5.12, Fastify ends the process of a host that makes this mistake.
      const app = Fastify()
      t.teardown(() => app.close())
      const events: PartnerSsoEvent[] = []
      // As a slow session store does: `reply.sent` is false until the plugin has gone on.
      app.addHook('onSend', async () => { await until(() => events.length > 0) })
      await app.register(partnerSso, pluginOptions({ ...options, onEvent: (event) => events.push(event) }))
      const { status, headers } = await inProcess(app).authorize()
      const location = headers.get('location')
      t.notMatch(location, /code=/, `${reason}: ${name}`)
      if (!reason.endsWith('failed')) t.strictSame([status, location], expected, `${reason}: ${name}`)
      t.match(events, [{ reason }], name)
    }
  }
})
