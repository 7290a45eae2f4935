// Alone: it replaces process.emitWarning.
// Warnings at start are seen, also where the host's logger is off: the log, or process.emitWarning.
import Fastify from 'fastify'
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import { StartupWarnings } from '../../lib/options/startup-warnings.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { PORTAL } from '../app.ts'

/** The warnings of the process while the test runs. */
function processWarnings (t: Test): unknown[][] {
  const warnings: unknown[][] = []
  t.intercept(process, 'emitWarning', { value: (...args: unknown[]) => { warnings.push(args) } })
  return warnings
}

const stream = { write: () => {} }

t.test('by the log, and by the process where the log drops warnings', async (t) => {
  const emitted = processWarnings(t)
  const custom = (level: string) => ({ level, warn () {}, trace () {} }) as unknown as FastifyBaseLogger
  for (const [name, log, isOff] of [
    ['a logger of another kind', custom('info'), false],
    ['a logger of another kind, silent', custom('silent'), true]
  ] as const) {
    emitted.length = 0
    const { warn } = new StartupWarnings(log)
    for (let times = 0; times < 2; times++) warn(name)
    t.strictSame(emitted, isOff ? [[name, 'PartnerSsoWarning']] : [], `${name}: once`)
  }
})

/** The warnings of a registration with these options and this level of the logger. */
async function register (t: Test, options: object, level?: string): Promise<unknown[]> {
  const emitted = processWarnings(t)
  const app = Fastify({ logger: level === undefined ? false : { level, stream } })
  t.teardown(() => app.close())
  const hooks = { currentUser: () => null, portalEligibility: () => null }
  await app.register(partnerSso, { portal: PORTAL, ...hooks, ...options })
  return emitted.map(([message]) => message)
}

const SILENT = /the logger is off and there is no onEvent/

t.test('a log that keeps errors alone drops warnings', async (t) => {
  t.match(await register(t, { store: 'memory' }, 'error'), [/no loginPage is given/])
  t.strictSame(await register(t, { store: 'memory' }, 'warn'), [])
})

t.test('at register(), where they are due', async (t) => {
  t.match(await register(t, { dir: '/app' }), [
    /^partner-sso: unknown options are ignored: dir$/, /no loginPage is given/, SILENT, /this process/
  ])
  const quiet = { store: 'memory', loginPage: '/login' }
  t.match(await register(t, quiet, 'fatal'), [SILENT], 'errors are not logged')
  t.strictSame(await register(t, quiet, 'error'), [])
  t.strictSame(await register(t, { ...quiet, onEvent () {} }), [])
  t.strictSame(await register(t, { ...quiet, store: new MemoryStore(10) }, 'error'), [], 'a store of the host’s own')
})
