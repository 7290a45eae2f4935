// The registered portals: what a hook is given, authentication in constant time, and what a function of the host may do
// wrong. Each secret: contract/checks/token. The redirect_uri with a query of its own: attacks/redirect-query.
import * as crypto from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:http'
import { createServer } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import type { OAuthError } from '../../lib/errors.ts'
import type { Portal } from '../../lib/portal/portal.ts'
import type * as portalModule from '../../lib/portal/portals.ts'
import { Portals } from '../../lib/portal/portals.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'
import { listen } from '../helpers/listen.ts'
import { freePort } from '../helpers/ports.ts'

const long = (secret: string): string => secret.padEnd(22, '-')
const TWO: Portal = { ...PORTAL, clientId: 'two', clientSecret: ['old', 'new', 'newer'].map(long) }
const noWarning = (message: string): never => { throw new Error(message) }
const noLog = { error: noWarning, warn: noWarning } as unknown as FastifyBaseLogger
const finder = (clientId: string) => [PORTAL, TWO].find((portal) => portal.clientId === clientId)

t.test('a hook is given everything but the secret, and cannot change it', async (t) => {
  const { clientSecret, ...known } = PORTAL
  const { information } = new RegisteredPortal({ ...PORTAL, note: 'a column of the table' } as Portal)
  t.strictSame(information, { ...known, level: 'partner' })
  t.ok(Object.isFrozen(information))
})

t.test('constant time: as many digests and comparisons, whether the client or the secret is unknown', async (t) => {
  const calls = { timingSafeEqual: 0, hash: 0 }
  const { Portals: Counted } = await t.mockImport<typeof portalModule>(lib('portal/portals.ts'), {
    'node:crypto': {
      ...crypto,
      timingSafeEqual (...args: Parameters<typeof crypto.timingSafeEqual>) {
        calls.timingSafeEqual++
        return crypto.timingSafeEqual(...args)
      },
      hash (...args: Parameters<typeof crypto.hash>) {
        calls.hash++
        return crypto.hash(...args)
      }
    }
  })
  for (const given of [[PORTAL, TWO], [PORTAL], finder]) {
    const portals = new Counted(given, 1000, noWarning, noLog)
    const count = async (clientId: string, secret: string) => {
      Object.assign(calls, { timingSafeEqual: 0, hash: 0 })
      const given = { clientId: [clientId], clientSecret: [secret, `${secret}+`] }
      await portals.authenticate(given).catch(() => {})
      return { ...calls }
    }
    // A list digests the secrets of a portal once.
    for (const clientId of [PORTAL.clientId, 'two', 'unknown']) await count(clientId, 'x')
    const wrong = await count(PORTAL.clientId, 'wrong')
    t.ok(wrong.timingSafeEqual > 0 && wrong.hash > 0, `${given.length} portals`)
    for (const [clientId, secret] of [['unknown', 'x'], [PORTAL.clientId, PORTAL.clientSecret]] as const) {
      t.strictSame(await count(clientId, secret), wrong, clientId)
    }
    if (given === finder) t.strictSame(await count('two', long('old')), wrong, 'one with three secrets')
  }
})

t.test('a secret that can be guessed: one warning, never the secret', async (t) => {
  for (const [clientSecret, isWarned] of [
    ['x'.repeat(21), true], ['x'.repeat(22), false], [['x'.repeat(30), 'hush'], true], [['hush', 'hush-hush'], true]
  ] as const) {
    const portal: Portal = { ...PORTAL, clientSecret: [clientSecret].flat() }
    for (const given of [[portal, { ...portal, clientId: 'other' }], async () => portal]) {
      const warnings: string[] = []
      const portals = new Portals(given, 1000, (message) => warnings.push(message), noLog)
      for (const clientId of [PORTAL.clientId, PORTAL.clientId, 'unknown']) {
        await portals.find(clientId)
        await portals.authenticate({ clientId: [clientId], clientSecret: ['x'] }).catch(() => {})
      }
      const ofSecret = warnings.filter((warning) => warning.includes('a clientSecret has less than 22 characters'))
      t.equal(ofSecret.length, isWarned ? 1 : 0, String(clientSecret))
      t.notMatch(warnings.join(), 'hush', String(clientSecret))
    }
  }
})

t.test('each of many secrets that are much alike is accepted', async (t) => {
  const clientSecret = ['1', '2', '3', '4', '5', '6'].map((end) => 'a long beginning '.repeat(8) + end)
  const portals = new Portals([{ ...PORTAL, clientSecret }], 1000, noWarning, noLog)
  for (const [index, secret] of clientSecret.entries()) {
    t.match(await portals.authenticate({ clientId: [PORTAL.clientId], clientSecret: [secret] }), {
      secretIndex: index, isAsSent: false
    }, secret)
  }
})

const HUSH = { clientId: ['hush-id'], clientSecret: ['x'] }

t.test('a function that returns no portal: the reason, without a secret or what was asked', async (t) => {
  const cases: Array<[unknown, RegExp]> = [
    ['a text with hush in it', /"portal\(\)" must be an object with .*; got a string of 22 characters$/],
    [[PORTAL], /"portal\(\)" must be an object .*; got an array$/],
    [false, /"portal\(\)" must be .*; got a boolean$/],
    [{}, /\(\)\.loginUrl" must be .*; got undefined$/]
  ]
  for (const [returned, message] of cases) {
    const portals = new Portals(async () => returned as Portal, 1000, noWarning, noLog)
    for (const call of [() => portals.find('hush-id'), () => portals.authenticate(HUSH)]) {
      const { reason, context: { cause, ...context } } = await Promise.resolve(call())
        .then(() => { throw new Error('It was accepted') }, (error: OAuthError) => error)
      t.strictSame([reason, context], ['portal_failed', {}], String(message))
      t.match((cause as Error).message, message, `${message}: ${call}`)
      t.notMatch((cause as Error).message, 'hush', String(message))
    }
  }
})

t.test('two spellings of a client_id: both are looked up at once, and one that fails is not missed', async (t) => {
  const other = new Error('no client_id of ours')
  const found: Record<string, Portal | undefined> = { 'a b': { ...PORTAL, clientId: 'a b' } }
  const asked: string[] = []
  const portals = new Portals(async (clientId) => {
    asked.push(clientId)
    if (clientId === 'bad+1') throw other
    return found[clientId]
  }, 1000, noWarning, noLog)
  const authenticate = async (...clientId: string[]) => {
    asked.length = 0
    return await portals.authenticate({ clientId, clientSecret: ['x', PORTAL.clientSecret] })
  }
  t.match(await authenticate('a b', 'bad+1'), { isAsSent: true })
  t.strictSame(asked, ['a b', 'bad+1'])
  t.match(await authenticate('bad+1', 'a b'), { isAsSent: true })
  t.match(await authenticate('a b', 'a b'), { isAsSent: true }, 'by the secret')
  t.strictSame(asked, ['a b'], 'equal spellings are one lookup')
  await t.rejects(authenticate('none', 'bad+1'), { message: 'The request could not be completed.' })
  await t.rejects(authenticate('none', 'none+'), { message: 'Client authentication failed.' })
})

type Line = [level: string, fields: Record<string, unknown>, message: string]

/** Portals by a function that does what `next` says, and what is logged. */
function failing (timeout = 60_000) {
  const lines: Line[] = []
  const level = (name: string) => (...line: unknown[]) => { lines.push([name, ...line] as unknown as Line) }
  const log = { error: level('error'), warn: level('warn') } as unknown as FastifyBaseLogger
  const next = { call: (): unknown => null }
  const portals = new Portals(async () => await next.call() as null, timeout, noWarning, log)
  const find = async (): Promise<string> =>
    await Promise.resolve(portals.find('p')).then(() => 'ok', ({ reason }: OAuthError) => reason)
  return { lines, next, find }
}

const withCode = (code: string, message = `connect ${code}`): Error => Object.assign(new Error(message), { code })
const nested = (depth: number): Error => depth === 0
  ? withCode('ECONNRESET')
  : new Error('wrapper', { cause: nested(depth - 1) })

/** What the function throws, and what the line of the outage says of it. Undefined: it is no outage. */
const throws: Record<string, [error: unknown, cause: string | undefined]> = {
  'AbortSignal.timeout': [new DOMException('The operation was aborted', 'TimeoutError'), 'The operation was aborted'],
  'fetch failed': [new TypeError('fetch failed', { cause: withCode('ECONNREFUSED') }), 'connect ECONNREFUSED'],
  'several addresses': [new AggregateError([new Error('x'), withCode('ETIMEDOUT')]), 'connect ETIMEDOUT'],
  'a code without a message': [Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  'a name alone': [{ name: 'TimeoutError' }, 'TimeoutError'],
  'a cause of a cause': [nested(4), 'connect ECONNRESET'],
  'deeper than is read': [nested(5), undefined],
  'a plain error': [new Error('connect ECONNREFUSED'), undefined],
  'another code': [withCode('ERR_INVALID_ARG_TYPE'), undefined],
  'a wrapped plain error': [new AggregateError([new Error('timeout'), null]), undefined],
  nothing: [undefined, undefined],
  null: [null, undefined],
  'an error that cannot be read': [{ get code () { throw new Error('of the getter') } }, undefined]
}
const UNREACHABLE = [
  'ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ECONNRESET', 'ECONNABORTED',
  'ENETRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_SOCKET'
]
for (const code of UNREACHABLE) throws[code] = [withCode(code), `connect ${code}`]
// Errors of files, of the process and of the system.
for (const code of ['ENOENT', 'EACCES', 'EMFILE', 'EADDRINUSE', 'EAI_FAIL', 'ABORT_ERR', '57P01']) {
  throws[code] = [withCode(code), undefined]
}
const cyclic = new Error('round')
cyclic.cause = cyclic
throws['its own cause'] = [cyclic, undefined]

for (const [name, [error, cause]] of Object.entries(throws)) {
  t.test(`the function throws: ${name}`, async (t) => {
    const { lines, next, find } = failing()
    next.call = () => { throw error }
    t.equal(await find(), cause === undefined ? 'portal_failed' : 'portal_unavailable')
    t.strictSame(lines.map(([, fields]) => fields.cause), cause === undefined ? [] : [cause])
  })
}

t.test('what Node.js throws where a server refuses or ends the connection', async (t) => {
  const port = await freePort()
  // Not before it has the request: Node's own fetch hangs where a connection ends sooner.
  const ending = await listen(t, createServer((socket) => socket.once('data', () => socket.destroy())))
  const lookups = [port, ending].flatMap((port) => [
    async () => await fetch(`http://127.0.0.1:${port}`),
    async () => { await once(get({ port, host: '127.0.0.1' }), 'response') }
  ])
  const { lines, next, find } = failing(30_000)
  for (const lookup of lookups) {
    next.call = lookup
    t.equal(await find(), 'portal_unavailable', JSON.stringify(lines))
  }
})

t.test('an outage of the function is a line at its begin and one at its end, in the words of the store', async (t) => {
  const { lines, next, find } = failing(20)
  const down = () => { throw withCode('ECONNREFUSED') }
  for (const call of [down, down, () => new Promise(() => {}), () => { throw new Error('a mistake') }, down]) {
    next.call = call
    await find()
  }
  const cause = 'connect ECONNREFUSED'
  t.strictSame(lines.splice(0), [['error', { event: 'portal_unavailable', reason: 'portal_unavailable', cause },
    `partner-sso: portal_unavailable (${cause}): no sign-in succeeds until the portal function is back`]])
  next.call = () => null
  for (let count = 0; count < 2; count++) t.equal(await find(), 'ok', `request ${count}`)
  const [[level, fields, message]] = lines as [Line]
  t.equal(lines.length, 1)
  t.match([level, fields], ['warn', { event: 'portal_available', reason: 'ok', refused: 4 }])
  t.match(message, /^partner-sso: portal_available after \d+ ms, 4 requests refused$/)
  next.call = () => new Promise(() => {})
  t.equal(await find(), 'portal_timeout')
  t.match(lines[1], ['error', { cause: 'The `portal` function did not return within `storeTimeout`' }])
})
