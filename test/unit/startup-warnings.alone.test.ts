// Alone: it replaces process.emitWarning.
// Warnings at start are seen, also where the host's logger is off: the log, or process.emitWarning.
import Fastify from 'fastify'
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import { startupWarnings, warnOfSilence } from '../../lib/options/startup-warnings.ts'
import { hostOptions } from '../helpers/host.ts'

/** The warnings of the process while the test runs. */
function processWarnings (t: Test): unknown[][] {
  const warnings: unknown[][] = []
  t.intercept(process, 'emitWarning', { value: (...args: unknown[]) => { warnings.push(args) } })
  return warnings
}

t.test('by the log, and by the process where the log drops warnings', async (t) => {
  const emitted = processWarnings(t)
  const custom = (level: string) => ({ level, warn () {}, trace () {} }) as unknown as FastifyBaseLogger
  const stream = { write: () => {} }
  for (const [name, log, isOff] of [
    ['no logger', Fastify().log, true],
    ['pino, error', Fastify({ logger: { level: 'error', stream } }).log, true],
    ['pino, warn', Fastify({ logger: { level: 'warn', stream } }).log, false],
    ['a logger of another kind', custom('info'), false],
    ['a logger of another kind, silent', custom('silent'), true]
  ] as const) {
    emitted.length = 0
    const warn = startupWarnings(log)
    for (let times = 0; times < 2; times++) warn(name)
    t.strictSame(emitted, isOff ? [[name, 'PartnerSsoWarning']] : [], `${name}: once`)
  }
})

t.test('at register(), once each, by the log or by the process', async (t) => {
  const emitted = processWarnings(t)
  const logged: unknown[] = []
  const stream = { write: (line: string) => { logged.push(JSON.parse(line)) } }
  for (const logger of [false, { level: 'warn', stream }]) {
    const app = Fastify({ logger })
    t.teardown(() => app.close())
    await app.register(partnerSso, Object.assign(hostOptions(), { dir: '/app' }))
    await app.ready()
  }
  const expected = [/^partner-sso: unknown options are ignored: dir$/, /no loginPage is given/, /this process/]
  t.match(logged, expected.map((msg) => ({ level: 40, msg })))
  const silent = [...expected.slice(0, 2), /the logger is off and there is no onEvent/, ...expected.slice(2)]
  t.match(emitted, silent.map((message) => [message, 'PartnerSsoWarning']))
  t.strictSame([logged.length, emitted.length], [expected.length, silent.length])
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(partnerSso, hostOptions({ store: 'memory', loginPage: '/login', onEvent: () => {} }))
  t.equal(emitted.length, silent.length, 'nothing to warn of')
})

t.test('a host that neither logs errors nor has onEvent is warned that nobody sees them', async (t) => {
  const stream = { write: () => {} }
  for (const [level, onEvent, isWarned] of [
    ['fatal', undefined, true], ['error', undefined, false], ['fatal', () => {}, false]
  ] as const) {
    const warnings: string[] = []
    warnOfSilence(Fastify({ logger: { level, stream } }).log, onEvent, (message) => { warnings.push(message) })
    t.equal(warnings.length, isWarned ? 1 : 0, level)
  }
})
