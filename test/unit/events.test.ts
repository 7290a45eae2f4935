// What the log and the host are told (contract section 7).
import { type FastifyRequest } from 'fastify'
import t from 'tap'
import { OAuthError } from '../../lib/errors.ts'
import { type OnEvent, Reporter } from '../../lib/events.ts'

type Line = [level: string, fields: Record<string, unknown>, message: string]

function scene (onEvent?: OnEvent): { reporter: Reporter, request: FastifyRequest, lines: Line[] } {
  const lines: Line[] = []
  const level = (name: string) => (fields: Record<string, unknown>, message: string) => lines.push([name, fields, message])
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  return { reporter: new Reporter(onEvent), request: { id: 'req-1', log } as unknown as FastifyRequest, lines }
}

const outcome = { type: 'token_issued', reason: 'ok', clientId: 'p', externalId: 'u', secretIndex: 1 } as const

t.test('one line and one event, with no field that does not belong', async (t) => {
  const told: unknown[] = []
  const { reporter, request, lines } = scene((...given) => told.push(given))
  reporter.report(request, outcome)
  t.strictSame(lines, [['info', { event: 'token_issued', reason: 'ok', clientId: 'p', externalId: 'u', secretIndex: 1 }, 'partner-sso: token_issued']])
  t.strictSame(told, [[{ ...outcome, requestId: 'req-1' }, request]])
})

t.test('a refusal: at its level, its cause in the log alone', async (t) => {
  const told: unknown[] = []
  const { reporter, request, lines } = scene((event) => told.push(event))
  const cause = new Error('private')
  reporter.refused(request, new OAuthError('portal_eligibility_failed', { cause, clientId: 'p' }))
  t.strictSame(lines, [['error', { event: 'sign_in_refused', reason: 'portal_eligibility_failed', clientId: 'p', err: cause }, 'partner-sso: sign_in_refused']])
  t.strictSame(told, [{ type: 'sign_in_refused', reason: 'portal_eligibility_failed', clientId: 'p', requestId: 'req-1' }])
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
