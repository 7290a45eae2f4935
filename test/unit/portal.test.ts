// The registered portals: what a code is bound to, how they authenticate, and what a function of the host may do wrong.
// Alone: it sets the clock that lib finds when it is loaded.
import { byClock, newClock, pass } from '../interleavings/clock.ts'
import * as crypto from 'node:crypto'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { OAuthError } from '../../lib/errors.ts'
import type { Portal } from '../../lib/options/portal.ts'
import type * as portalModule from '../../lib/portal.ts'
import { Portals, RegisteredPortal } from '../../lib/portal.ts'
import type { PortalFinder } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'

const TWO: Portal = { ...PORTAL, clientId: 'two', clientSecret: ['old', 'new', 'newer'] }
const noWarning = (message: string): never => { throw new Error(message) }
const portalsOf = (portal: Portal[] | PortalFinder, warn: (message: string) => void = noWarning) =>
  new Portals(portal, 1000, warn)
const finder = (clientId: string) => [PORTAL, TWO].find((portal) => portal.clientId === clientId)

/** What a refusal says. */
async function refusal (call: () => unknown): Promise<{ reason: string, context: OAuthError['context'] }> {
  try {
    await call()
  } catch (error) {
    const { reason, context } = error as OAuthError
    return { reason, context }
  }
  throw new Error('It was accepted')
}

t.test('the redirect_uri keeps its query, whatever it is', async (t) => {
  for (const [redirectUri, before] of [
    ['https://p.example/cb', 'https://p.example/cb?'],
    ['https://p.example/cb?', 'https://p.example/cb?'],
    ['https://p.example/cb?a=1', 'https://p.example/cb?a=1&'],
    ['https://p.example/cb?a=1&', 'https://p.example/cb?a=1&'],
    ['https://p.example/cb?a=?', 'https://p.example/cb?a=?&']
  ] as const) {
    const portal = new RegisteredPortal({ ...PORTAL, redirectUri })
    t.equal(portal.callback('code=x', 'y%20z'), `${before}code=x&state=y%20z`)
    t.equal(portal.callback('error=x', undefined), `${before}error=x`)
  }
})

t.test('a hook is told everything but the secret, and cannot change it', async (t) => {
  const { clientSecret, ...known } = PORTAL
  const { information } = new RegisteredPortal({ ...PORTAL, note: 'a column of the table' } as Portal)
  t.strictSame(information, { ...known, level: 'partner' })
  t.ok(Object.isFrozen(information))
})

for (const [kind, portals] of [['a list', portalsOf([PORTAL, TWO])], ['a function', portalsOf(finder)]] as const) {
  t.test(`${kind}: each secret of each portal, and no other`, async (t) => {
    for (const [index, secret] of ['old', 'new', 'newer'].entries()) {
      const { portal, secretIndex } = await portals.authenticate('two', secret)
      t.equal(portal.information.clientId, 'two')
      t.equal(secretIndex, index)
    }
    const wrong = { reason: 'client_secret_wrong', context: { clientId: 'two' } }
    for (const secret of ['', 'ol', 'oldnew', 'old,new,newer', 'old\0', PORTAL.clientSecret]) {
      t.strictSame(await refusal(() => portals.authenticate('two', secret)), wrong)
    }
    t.strictSame(await refusal(() => portals.authenticate('three', 'old')), { reason: 'client_unknown', context: {} })
    t.strictSame(await refusal(() => portals.authenticate('none', 'old')), { reason: 'client_unknown', context: {} })
    t.equal(await portals.find('three'), undefined)
    t.equal((await portals.find(PORTAL.clientId))?.information.clientId, PORTAL.clientId)
  })
}

t.test('constant time: as many digests and comparisons, whether the client or the secret is unknown', async (t) => {
  const calls = { timingSafeEqual: 0, hash: 0 }
  const { Portals: Counted } = await t.mockImport<typeof portalModule>(lib('portal.ts'), {
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
      await portals.authenticate(clientId, secret).catch(() => {})
      return { ...calls }
    }
    // A list digests the secrets of a portal once.
    for (const clientId of [PORTAL.clientId, 'two', 'unknown']) await count(clientId, 'x')
    const wrong = await count(PORTAL.clientId, 'wrong')
    t.strictSame(wrong, { timingSafeEqual: 4, hash: typeof given === 'function' ? 5 : 1 })
    for (const [clientId, secret] of [['unknown', 'x'], [PORTAL.clientId, PORTAL.clientSecret]] as const) {
      t.strictSame(await count(clientId, secret), wrong)
    }
    if (given === finder) t.strictSame(await count('two', 'old'), wrong, 'one with three secrets')
  }
})

t.test('the only portal', async (t) => {
  t.equal(portalsOf([PORTAL]).only?.information.clientId, PORTAL.clientId)
  t.equal(portalsOf([PORTAL, TWO]).only, undefined)
  t.equal(portalsOf(() => PORTAL).only, undefined)
})

t.test('a function is called with 1 to 255 visible ASCII characters, each time, and with nothing else', async (t) => {
  const asked: string[] = []
  const portals = portalsOf((clientId) => { asked.push(clientId); return null })
  for (const hostile of ['', 'a'.repeat(256), 'é', 'a\nb', 'a\0', '\x7f', '\u2028', '\ud800', '١']) {
    t.equal(await portals.find(hostile), undefined)
    t.equal((await refusal(() => portals.authenticate(hostile, 'x'))).reason, 'client_unknown')
  }
  t.strictSame(asked, [])
  const fine = ['a', 'a', ' ', '~', 'a'.repeat(255), '__proto__', "'; DROP TABLE portals; --"]
  for (const clientId of fine) t.equal(await portals.find(clientId), undefined)
  t.strictSame(asked, fine)
})

t.test('a function that ignores its argument: an unknown client, one warning, without what was asked', async (t) => {
  const warnings: string[] = []
  const portals = portalsOf(async () => PORTAL, (message) => { warnings.push(message) })
  for (const invented of ['invented-1', 'invented-2', PORTAL.clientSecret]) {
    t.equal(await portals.find(invented), undefined)
    t.strictSame(await refusal(() => portals.authenticate(invented, PORTAL.clientSecret)),
      { reason: 'client_unknown', context: {} })
  }
  t.match(warnings, [/^partner-sso: the portal function returned a portal of another clientId/])
  t.equal(warnings.length, 1)
  for (const text of ['invented', PORTAL.clientSecret, PORTAL.clientId]) t.notOk(warnings[0]?.includes(text))
  t.equal((await portals.authenticate(PORTAL.clientId, PORTAL.clientSecret)).secretIndex, 0, 'the one that it knows')
})

t.test('a function that throws, or returns no portal: the reason, without a secret or what was asked', async (t) => {
  const cases: Array<[unknown, RegExp]> = [
    ['a text with hush in it', /"portal\(\)" must be an object with .*; got a string of 22 characters$/],
    [[PORTAL], /"portal\(\)" must be an object .*; got an array$/],
    [false, /"portal\(\)" must be .*; got a boolean$/],
    [{}, /\(\)\.loginUrl" must be .*; got undefined$/],
    [{ ...PORTAL, clientSecret: 'hush\n' }, /\(\)\.clientSecret" must be .*; got a string .* that has a line break$/],
    [{ ...PORTAL, redirectUri: 'https://x:hush@p.example/' }, /\(\)\.redirectUri" must be .*; got a URL that has/]
  ]
  for (const [returned, message] of cases) {
    const portals = portalsOf(async () => returned as Portal)
    for (const call of [() => portals.find('hush-id'), () => portals.authenticate('hush-id', 'x')]) {
      const { reason, context: { cause, ...context } } = await refusal(call)
      t.equal(reason, 'portal_failed')
      t.strictSame(context, {})
      t.match((cause as Error).message, message)
      t.notMatch((cause as Error).message, 'hush')
    }
  }
  const cause = new Error('The vault is sealed')
  for (const failing of [() => { throw cause }, async () => { throw cause }]) {
    t.strictSame(await refusal(() => portalsOf(failing).find('a')), { reason: 'portal_failed', context: { cause } })
  }
})

t.test('a function that hangs times out, and what it does later harms nobody', async (t) => {
  const clock = newClock()
  let fail = (_error: Error): void => {}
  const portals = portalsOf(async () => await new Promise<never>((_resolve, reject) => { fail = reject }))
  for (const call of [() => portals.find('a'), () => portals.authenticate('a', 'x')]) {
    let refused: unknown
    byClock(clock, () => { refusal(call).then((value) => { refused = value }, () => {}) })
    await turn()
    pass(clock, 999)
    for (let turns = 0; turns < 3; turns++) await turn()
    t.equal(refused, undefined)
    pass(clock, 1)
    for (let turns = 0; turns < 3; turns++) await turn()
    t.strictSame(refused, { reason: 'portal_timeout', context: {} })
    fail(new Error('Too late: it must not end the process'))
    await turn()
  }
})

t.test('fake timers of the host stop no time limit', async (t) => {
  const names = ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] as const
  const real = Object.fromEntries(names.map((name) => [name, globalThis[name]]))
  // As sinon and others do it.
  for (const name of names) Object.assign(globalThis, { [name]: () => 0 })
  mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] })
  t.teardown(() => {
    mock.timers.reset()
    Object.assign(globalThis, real)
  })
  const hanging = new Portals(() => new Promise<never>(() => {}), 1, noWarning)
  t.equal((await refusal(() => hanging.find('a'))).reason, 'portal_timeout')
})
