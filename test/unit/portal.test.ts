// The registered portals: what a hook is told, authentication in constant time, and what a function of the host may do
// wrong. Each secret: contract/checks/token. The redirect_uri with a query of its own: attacks/redirect-query.
import * as crypto from 'node:crypto'
import t from 'tap'
import type { OAuthError } from '../../lib/errors.ts'
import type { Portal } from '../../lib/portal/portal.ts'
import type * as portalModule from '../../lib/portal/portals.ts'
import { Portals } from '../../lib/portal/portals.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'

const long = (secret: string): string => secret.padEnd(22, '-')
const TWO: Portal = { ...PORTAL, clientId: 'two', clientSecret: ['old', 'new', 'newer'].map(long) }
const noWarning = (message: string): never => { throw new Error(message) }
const finder = (clientId: string) => [PORTAL, TWO].find((portal) => portal.clientId === clientId)

t.test('a hook is told everything but the secret, and cannot change it', async (t) => {
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
    const portals = new Counted(given, 1000, noWarning)
    const count = async (clientId: string, secret: string) => {
      Object.assign(calls, { timingSafeEqual: 0, hash: 0 })
      const given = { clientId: [clientId], clientSecret: [secret, `${secret}+`] }
      await portals.authenticate(given).catch(() => {})
      return { ...calls }
    }
    // A list digests the secrets of a portal once.
    for (const clientId of [PORTAL.clientId, 'two', 'unknown']) await count(clientId, 'x')
    const wrong = await count(PORTAL.clientId, 'wrong')
    t.ok(wrong.timingSafeEqual > 0 && wrong.hash > 0)
    for (const [clientId, secret] of [['unknown', 'x'], [PORTAL.clientId, PORTAL.clientSecret]] as const) {
      t.strictSame(await count(clientId, secret), wrong)
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
      const portals = new Portals(given, 1000, (message) => warnings.push(message))
      for (const clientId of [PORTAL.clientId, PORTAL.clientId, 'unknown']) {
        await portals.find(clientId)
        await portals.authenticate({ clientId: [clientId], clientSecret: ['x'] }).catch(() => {})
      }
      const ofSecret = warnings.filter((warning) => warning.includes('a clientSecret has less than 22 characters'))
      t.equal(ofSecret.length, isWarned ? 1 : 0)
      t.notMatch(warnings.join(), 'hush')
    }
  }
})

t.test('each of many secrets that are much alike is accepted', async (t) => {
  const clientSecret = ['1', '2', '3', '4', '5', '6'].map((end) => 'a long beginning '.repeat(8) + end)
  const portals = new Portals([{ ...PORTAL, clientSecret }], 1000, noWarning)
  for (const [index, secret] of clientSecret.entries()) {
    t.match(await portals.authenticate({ clientId: [PORTAL.clientId], clientSecret: [secret] }), {
      secretIndex: index, isAsSent: false
    })
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
    const portals = new Portals(async () => returned as Portal, 1000, noWarning)
    for (const call of [() => portals.find('hush-id'), () => portals.authenticate(HUSH)]) {
      const { reason, context: { cause, ...context } } = await Promise.resolve(call())
        .then(() => { throw new Error('It was accepted') }, (error: OAuthError) => error)
      t.strictSame([reason, context], ['portal_failed', {}])
      t.match((cause as Error).message, message)
      t.notMatch((cause as Error).message, 'hush')
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
  }, 1000, noWarning)
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
