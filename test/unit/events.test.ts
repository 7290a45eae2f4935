// What the log and the host are told.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { runInNewContext } from 'node:vm'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { OAuthError, refusals } from '../../lib/errors.ts'
import { Reporter } from '../../lib/events.ts'
import type { OnEvent } from '../../lib/events.ts'

type Line = [level: string, fields: Record<string, unknown>, message: string]

function scene (onEvent?: OnEvent): { reporter: Reporter, request: FastifyRequest, lines: Line[] } {
  const lines: Line[] = []
  const level = (name: string) =>
    (fields: Record<string, unknown>, message: string) => lines.push([name, fields, message])
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  return { reporter: new Reporter(onEvent), request: { id: 'req-1', log } as unknown as FastifyRequest, lines }
}

const outcome = { type: 'token_issued', reason: 'ok', clientId: 'p', externalId: 'u', secretIndex: 1 } as const

t.test('one line and one event, with no field that does not belong', async (t) => {
  const told: unknown[] = []
  const { reporter, request, lines } = scene((...given) => told.push(given))
  reporter.report(request, outcome)
  const { type: event, ...fields } = outcome
  t.strictSame(lines, [['info', { event, ...fields }, 'partner-sso: token_issued']])
  t.strictSame(told, [[{ ...outcome, requestId: 'req-1' }, request]])
})

t.test('a refusal: at its level, its cause in the log alone', async (t) => {
  const told: unknown[] = []
  const { reporter, request, lines } = scene((event) => told.push(event))
  const cause = new Error('private')
  reporter.refused(request, new OAuthError('portal_eligibility_failed', { cause, clientId: 'p' }))
  const { hint } = refusals.portal_eligibility_failed
  const fields = { event: 'sign_in_refused', reason: 'portal_eligibility_failed', clientId: 'p', hint, err: cause }
  const message = 'partner-sso: sign_in_refused (portal_eligibility_failed)'
  t.strictSame(lines, [['error', fields, message]], 'with a hint, for the host to fix')
  const event = { type: 'sign_in_refused', reason: 'portal_eligibility_failed', clientId: 'p', requestId: 'req-1' }
  t.strictSame(told, [event])
})

t.test('an onEvent that throws, at once or later, is logged and changes nothing', async (t) => {
  const error = new Error('of the host')
  for (const onEvent of [() => { throw error }, async () => { throw error }]) {
    const { reporter, request, lines } = scene(onEvent)
    reporter.report(request, outcome)
    await new Promise(setImmediate)
    t.strictSame(lines[1], ['error', { err: error }, 'partner-sso: onEvent threw'])
    t.equal(lines.length, 2)
  }
})

t.test('one that returns something, or a promise that is kept, is fine', async (t) => {
  for (const onEvent of [() => 1, () => null, async () => {}] as OnEvent[]) {
    const { reporter, request, lines } = scene(onEvent)
    reporter.report(request, outcome)
    await new Promise(setImmediate)
    t.equal(lines.length, 1)
  }
})

t.test('a rejection that is no promise of this realm', async (t) => {
  const error = new Error('of the host')
  const unhandled: unknown[] = []
  const note = (reason: unknown) => { unhandled.push(reason) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const foreign = runInNewContext('(error) => Promise.reject(error)') as (error: Error) => Promise<void>
  const rejected = [
    () => foreign(error),
    () => ({ then: (_: unknown, reject: (reason: unknown) => void) => { reject(error) } }),
    () => ({ then: () => { throw error } }),
    () => Object.defineProperty({}, 'then', { get () { throw error } }),
    () => Object.defineProperty(Promise.reject(error), 'constructor', {
      configurable: true, get () { throw new Error('of the getter') }
    })
  ]
  for (const onEvent of rejected) {
    const { reporter, request, lines } = scene(onEvent as OnEvent)
    reporter.report(request, outcome)
    await new Promise(setImmediate)
    t.strictSame(lines[1], ['error', { err: error }, 'partner-sso: onEvent threw'])
    t.equal(lines.length, 2)
  }
  t.strictSame(unhandled, [])
})

t.test('the event itself is published on the diagnostics channel', async (t) => {
  const published: unknown[] = []
  const note = (event: unknown) => { published.push(event) }
  subscribe('fastify-partner-sso:event', note)
  const told: unknown[] = []
  const { reporter, request } = scene((event) => told.push(event))
  reporter.report(request, outcome)
  scene().reporter.report(request, outcome)
  unsubscribe('fastify-partner-sso:event', note)
  reporter.report(request, outcome)
  const event = { ...outcome, requestId: 'req-1' }
  t.strictSame(published, [event, event], 'without onEvent too')
  t.equal(published[0], told[0], 'the very object')
  t.equal(told.length, 2)
})

t.test('a logger that throws for the error logs the rest', async (t) => {
  const { reporter, request, lines } = scene()
  const cause = new Error('its own getters throw')
  const { error: write } = request.log
  Object.assign(request.log, {
    error (fields: { err?: unknown }, message: string) {
      if (fields.err !== undefined) throw cause
      write(fields, message)
    }
  })
  reporter.refused(request, new OAuthError('portal_eligibility_failed', { cause }))
  const { hint } = refusals.portal_eligibility_failed
  const fields = { event: 'sign_in_refused', reason: 'portal_eligibility_failed', hint }
  t.strictSame(lines, [['error', fields, 'partner-sso: sign_in_refused (portal_eligibility_failed)']])
})

t.test('a line is not put together for a level that is off', async (t) => {
  const { reporter, request, lines } = scene()
  const asked: string[] = []
  Object.assign(request.log, { isLevelEnabled: (level: string) => asked.push(level) === 0 })
  reporter.report(request, { get type (): never { throw new Error('it was read') } } as never)
  reporter.refused(request, new OAuthError('store_unavailable'))
  t.strictSame(asked, ['info', 'debug'])
  t.strictSame(lines, [])
})
