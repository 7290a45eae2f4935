// The registered portals: where they are sent back to, and how they authenticate.
import * as crypto from 'node:crypto'
import t from 'tap'
import { type OAuthError } from '../../lib/errors.ts'
import type * as portalModule from '../../lib/portal.ts'
import { FoundPortals, ListedPortals, RegisteredPortal } from '../../lib/portal.ts'
import { type Portal } from '../../lib/options/portal.ts'
import { PORTAL } from '../helpers/host.ts'

const TWO: Portal = { ...PORTAL, clientId: 'two', clientSecret: ['old', 'new', 'newer'] }

const portalOf = (clientId: string) => [PORTAL, TWO].find((portal) => portal.clientId === clientId)

/** What a refusal says, or a failure where there is none. */
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
  t.equal(new RegisteredPortal({ ...PORTAL, level: 'client' }).information.level, 'client')
})

t.test('a code is bound to everything of its portal but the secret', async (t) => {
  const binding = (changes: Partial<Portal> = {}): string => new RegisteredPortal({ ...PORTAL, ...changes }).binding
  t.equal(binding({ clientSecret: 'another', level: 'partner' }), binding())
  t.notMatch(binding(), PORTAL.clientSecret)
  const changes: Array<Partial<Portal>> = [
    { clientId: 'b' }, { redirectUri: 'https://p.example/x' }, { loginUrl: 'https://p.example/x' }, { level: 'client' }
  ]
  for (const change of changes) t.not(binding(change), binding(), Object.keys(change).join())
  t.not(binding({ clientId: 'a"', redirectUri: 'b' }), binding({ clientId: 'a', redirectUri: '"b' }), 'told apart')
})

for (const [kind, portals] of [
  ['a list', new ListedPortals([PORTAL, TWO])],
  ['a function', new FoundPortals(portalOf, 1000)]
] as const) {
  t.test(`${kind}: each secret of each portal, and no other`, async (t) => {
    const one = await portals.authenticate(PORTAL.clientId, PORTAL.clientSecret)
    t.equal(one.portal.clientId, PORTAL.clientId)
    t.equal(one.secretIndex, 0)
    for (const [index, secret] of ['old', 'new', 'newer'].entries()) {
      const { portal, secretIndex } = await portals.authenticate('two', secret)
      t.equal(portal.clientId, 'two')
      t.equal(secretIndex, index)
    }
    const wrong = { reason: 'client_secret_wrong', context: { clientId: 'two' } }
    for (const secret of ['', 'ol', 'oldnew', 'old,new,newer', PORTAL.clientSecret]) {
      t.strictSame(await refusal(() => portals.authenticate('two', secret)), wrong)
    }
    t.strictSame(await refusal(() => portals.authenticate('three', 'old')), { reason: 'client_unknown', context: {} })
    t.equal((await portals.find('two'))?.clientId, 'two')
    t.equal(await portals.find('three'), undefined)
  })

  t.test(`${kind}: secrets that begin or end alike are told apart`, async (t) => {
    const start = 's'.repeat(64)
    const portal = { ...PORTAL, clientSecret: `${start}-one` }
    const listed = kind === 'a list' ? new ListedPortals([portal]) : new FoundPortals(() => portal, 1000)
    t.equal((await listed.authenticate(PORTAL.clientId, `${start}-one`)).secretIndex, 0)
    for (const secret of [`${start}-two`, start, `${start}-one-more`, 'one']) {
      t.equal((await refusal(() => listed.authenticate(PORTAL.clientId, secret))).reason, 'client_secret_wrong')
    }
  })
}

t.test('constant time: every answer compares as often, in constant time, whatever was sent', async (t) => {
  const calls = { timingSafeEqual: 0, hash: 0 }
  const counted = await t.mockImport<typeof portalModule>('../../lib/portal.ts', {
    'node:crypto': {
      ...crypto,
      timingSafeEqual: (a: Buffer, b: Buffer) => {
        calls.timingSafeEqual++
        return crypto.timingSafeEqual(a, b)
      },
      hash: (...args: Parameters<typeof crypto.hash>) => {
        calls.hash++
        return crypto.hash(...args)
      }
    }
  })
  for (const [portals, comparisons] of [
    [new counted.ListedPortals([PORTAL, TWO]), 3],
    [new counted.ListedPortals([PORTAL]), 1],
    [new counted.FoundPortals(portalOf, 1000), 4]
  ] as const) {
    const count = async (clientId: string, secret: string): Promise<{ timingSafeEqual: number, hash: number }> => {
      Object.assign(calls, { timingSafeEqual: 0, hash: 0 })
      try {
        await portals.authenticate(clientId, secret)
      } catch {}
      return { ...calls }
    }
    const wrong = await count(PORTAL.clientId, 'wrong')
    t.equal(wrong.timingSafeEqual, comparisons)
    t.strictSame(await count('unknown', 'wrong'), wrong, 'an unknown client')
    t.strictSame(await count(PORTAL.clientId, PORTAL.clientSecret), wrong, 'the right secret')
    for (const secret of ['old', 'new', 'newer', 'none']) {
      t.equal((await count('two', secret)).timingSafeEqual, comparisons, `a portal with three secrets: ${secret}`)
    }
  }
})

t.test('only one: an unknown client_id can mean no other', async (t) => {
  t.equal(new ListedPortals([PORTAL]).only?.clientId, PORTAL.clientId)
  t.equal(new ListedPortals([PORTAL, TWO]).only, undefined)
  t.equal(new FoundPortals(() => PORTAL, 1000).only, undefined)
})

t.test('a function is asked for visible ASCII of 1 to 255 characters, and nothing else', async (t) => {
  const asked: string[] = []
  const portals = new FoundPortals((clientId) => { asked.push(clientId); return null }, 1000)
  for (const hostile of ['', 'a'.repeat(256), 'é', 'a\nb', 'a\0', '\x7f', '\u2028', '\ud800', '١']) {
    t.equal(await portals.find(hostile), undefined)
    t.equal((await refusal(() => portals.authenticate(hostile, 'x'))).reason, 'client_unknown')
  }
  t.strictSame(asked, [])
  const fine = ['a', ' ', '~', 'a'.repeat(255), '__proto__', "'; DROP TABLE portals; --"]
  for (const clientId of fine) t.equal(await portals.find(clientId), undefined)
  t.strictSame(asked, fine)
})

t.test('a function is asked every time: nothing is kept', async (t) => {
  let portal: Portal | null = PORTAL
  const portals = new FoundPortals(async () => portal, 1000)
  t.ok(await portals.find(PORTAL.clientId))
  portal = { ...PORTAL, clientSecret: 'rotated' }
  const { reason } = await refusal(() => portals.authenticate(PORTAL.clientId, PORTAL.clientSecret))
  t.equal(reason, 'client_secret_wrong')
  t.equal((await portals.authenticate(PORTAL.clientId, 'rotated')).secretIndex, 0)
  portal = null
  t.equal(await portals.find(PORTAL.clientId), undefined)
})

t.test('a function that throws, or returns what is no such portal', async (t) => {
  const { clientId } = PORTAL
  const cases: Array<[unknown, RegExp]> = [
    ['a text with hush in it', /"portal\(\)" must be an object with the values of a portal; got a string$/],
    [[PORTAL], /"portal\(\)" must be an object .*; got an array$/],
    [false, /"portal\(\)" must be .*; got a boolean$/],
    [{}, /\(\)\.loginUrl" must be .*; got undefined$/],
    [{ ...PORTAL, clientId: 'other' }, /\(\)\.clientId" must be the client_id that was asked for; got another one$/],
    [{ ...PORTAL, clientSecret: 'hush\n' }, /\(\)\.clientSecret" must be .*; got a string that has a line break$/],
    [{ ...PORTAL, redirectUri: 'https://x:hush@p.example/' }, /\(\)\.redirectUri" must be .*; got a URL that has/],
    [{ ...PORTAL, level: null }, /\(\)\.level" must be "partner" or "client"; got null$/]
  ]
  for (const [returned, message] of cases) {
    const portals = new FoundPortals(async () => returned as Portal, 1000)
    for (const call of [() => portals.find(clientId), () => portals.authenticate(clientId, 'x')]) {
      const { reason, context } = await refusal(call)
      t.equal(reason, 'portal_failed')
      t.equal(context.clientId, clientId)
      const { message: told } = context.cause as Error
      t.match(told, message)
      t.notMatch(told, 'hush')
    }
  }
  const cause = new Error('The vault is sealed')
  for (const finder of [() => { throw cause }, async () => { throw cause }]) {
    t.strictSame(await refusal(() => new FoundPortals(finder, 1000).find(clientId)),
      { reason: 'portal_failed', context: { cause } }, 'a client_id that may be made up is not repeated')
  }
})

t.test('a function that does not answer in time', async (t) => {
  const never = new FoundPortals(() => new Promise<never>(() => {}), 20)
  t.strictSame(await refusal(() => never.find(PORTAL.clientId)), { reason: 'portal_timeout', context: {} })
  t.equal((await refusal(() => never.authenticate(PORTAL.clientId, 'x'))).reason, 'portal_timeout')

  let fail = (_error: Error): void => {}
  const late = new FoundPortals(() => new Promise<never>((_resolve, reject) => { fail = reject }), 1)
  t.equal((await refusal(() => late.find(PORTAL.clientId))).reason, 'portal_timeout')
  fail(new Error('It fails when nobody waits any more: that must not end the process'))
  await new Promise((resolve) => setImmediate(resolve))
})
