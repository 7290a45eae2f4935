// Listeners that fail. What the log and the host get: contract/refusals, contract/checks/sign-in.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { Reporter, requestIdOf } from '../../lib/events.ts'
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

const error = new Error('of the host')

/** What onEvent may do wrong. */
const listeners: Record<string, () => unknown> = {
  throws () { throw error },
  async rejects () { throw error }
}

t.test('an onEvent that fails, at once or later, is logged and changes nothing', async (t) => {
  for (const [name, onEvent] of Object.entries(listeners)) {
    const { reporter, request, lines } = scene(onEvent as OnEvent)
    reporter.report(request, outcome)
    await new Promise(setImmediate)
    t.strictSame(lines.slice(1), [['error', { err: error }, 'partner-sso: onEvent threw']], name)
  }
})

t.test('the event itself is published on the diagnostics channel', async (t) => {
  const published: unknown[] = []
  const note = (event: unknown) => { published.push(event) }
  subscribe('fastify-partner-sso:event', note)
  t.teardown(() => unsubscribe('fastify-partner-sso:event', note))
  for (const onEvent of [undefined, () => {}]) {
    const { reporter, request } = scene(onEvent)
    reporter.report(request, outcome)
  }
  const event = { ...outcome, requestId: 'req-1' }
  t.strictSame(published, [event, event], 'without onEvent too')
})

t.test('the id of the request is text, whatever genReqId returns', async (t) => {
  for (const [id, text] of [[7, '7'], [7n, '7'], [undefined, 'undefined'], [['a'], '["a"]']] as const) {
    t.equal(requestIdOf({ id }), text, text)
  }
})
