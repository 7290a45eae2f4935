// Someone makes the host's own code fail, by signing in at the right moment or with the right data: its audit code
// throws or rejects, its session store is down, it answers twice. The process lives, and the answer is the documented
// one.
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { capture } from './helpers/log.ts'

/** An error that throws once more at whoever looks at it. */
const unreadable = Object.defineProperty(new Error('loop'), 'message', {
  get () {
    throw new Error('alice@partner.example')
  }
})

await t.test('an onEvent that throws or rejects', async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => { unhandled.push(error) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  for (const onEvent of [
    () => {
      throw new Error('audit is down')
    },
    async () => {
      throw new Error('audit is down')
    },
    () => Promise.reject(new Error('audit is down'))
  ]) {
    const log = capture()
    const { url } = await startHost(t, { onEvent }, { server: { logger: log.logger } })
    const portal = wire(url)
    t.equal((await portal.user(await portal.accessToken())).status, 200)
    t.equal((await portal.user('x')).status, 401)
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(log.text().split('partner-sso: onEvent threw').length - 1, 4, 'each is logged')
  }
  t.strictSame(unhandled, [], 'and none ends the process')
})

await t.test('hooks that fail in every way', async (t) => {
  const values: unknown[] = [
    new Error('down'), null, undefined, 'text', Object.create(null),
    Object.assign(new Error('teapot'), { statusCode: 418 }), unreadable
  ]
  const failures = values.flatMap((value): Array<() => unknown> => [
    () => { throw value },
    async () => { throw value }
  ])
  for (const failure of failures) {
    for (const [reason, options] of [
      ['current_user_failed', { currentUser: failure as () => User }],
      ['portal_eligibility_failed', { portalEligibility: failure as () => null }]
    ] as const) {
      const log = capture()
      const { url, events } = await startHost(t, options, { server: { logger: log.logger } })
      const { status, redirect } = await wire(url).authorize({ state: 'mine' })
      t.equal(status, 302)
      t.equal(redirect.get('error'), 'server_error')
      t.equal(redirect.get('state'), 'mine')
      t.equal(events.at(-1)?.reason, reason)
      t.equal(
        log.text().split(`"reason":"${reason}"`).length - 1,
        1,
        'it is logged once, with the error or without'
      )
    }
  }
})

await t.test('an error that cannot be read, where the answer does not depend on it', async (t) => {
  for (const onEvent of [() => { throw unreadable }, async () => { throw unreadable }]) {
    const log = capture()
    const { url } = await startHost(t, { onEvent }, { server: { logger: log.logger } })
    t.equal((await wire(url).authorize()).status, 302)
    await new Promise((resolve) => setImmediate(resolve))
    t.match(log.text(), 'partner-sso: onEvent threw')
  }
  const log = capture()
  const { url } = await startHost(
    t,
    {
      currentUser: (_request, reply) => {
        reply.code(418).send('mine')
        throw unreadable
      }
    },
    { server: { logger: log.logger } }
  )
  t.equal((await wire(url).authorize()).status, 418)
  t.match(log.text(), 'partner-sso: currentUser threw after it had replied')
})

await t.test('records that break a rule, or are no records', async (t) => {
  for (const record of [
    1,
    'alice',
    [],
    {},
    true,
    new Proxy({}, { get: () => 'x' }),
    Object.create(null),
    {
      get external_id () {
        throw new Error('getter')
      }
    },
    { toJSON: () => ({}) },
    new Map(),
    () => {}
  ]) {
    const { url, events } = await startHost(t, { portalEligibility: () => record as never })
    const { redirect } = await wire(url).authorize()
    t.equal(redirect.get('error'), 'server_error')
    t.equal(events.at(-1)?.reason, 'user_information_invalid')
  }
})
