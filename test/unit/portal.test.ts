// The registered portals: what a hook is given, authentication, and what a function of the host may do
// wrong. Each secret: contract/checks/token.
import t from 'tap'
import type { OAuthError } from '../../lib/errors.ts'
import type { Portal } from '../../lib/portal/portal.ts'
import { portalsOf } from '../../lib/portal/portals.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../helpers/host.ts'

const noWarning = (message: string): never => { throw new Error(message) }

t.test('a hook is given everything but the secret, and cannot change it', async (t) => {
  const { clientSecret, ...known } = PORTAL
  const { information } = registeredPortal({ ...PORTAL, note: 'a column of the table' } as Portal)
  t.strictSame(information, { ...known, level: 'partner' })
  t.ok(Object.isFrozen(information))
})

t.test('code and state are added to a redirect_uri, whatever query it has of its own', async (t) => {
  for (const end of ['', '?', '?a', '?a=b&', '?a=b?', '?=&a%5B%5D=c;d', '?a=%26code=x', '/cb;v=1?a=%23%zz']) {
    const redirectUri = `https://portal.example${end}`
    const location = registeredPortal({ ...PORTAL, redirectUri }).callback('code=x', 'a%26b')
    t.ok(location.startsWith(redirectUri), location)
    const [given, sent] = [redirectUri, location].map((url) => new URL(url).searchParams)
    t.strictSame(['code', 'state'].map((name) => sent?.getAll(name)), [['x'], ['a&b']], location)
    for (const [name, value] of given ?? []) t.ok(sent?.getAll(name).includes(value), `${name} of ${location}`)
  }
  t.equal(registeredPortal(PORTAL).callback('error=x', undefined), `${PORTAL.redirectUri}?error=x`)
})

t.test('no name that every object has is a client_id', async (t) => {
  const portals = portalsOf([PORTAL], 1000, noWarning)
  for (const name of ['__proto__', 'constructor', 'size']) t.equal(portals.find(name), undefined, name)
})

t.test('a secret that can be guessed: a warning, never the secret', async (t) => {
  for (const [clientSecret, isWarned] of [
    ['x'.repeat(22), false], ['x'.repeat(21), true], [['x'.repeat(30), 'hush'], true]
  ] as const) {
    const portal: Portal = { ...PORTAL, clientSecret: [clientSecret].flat() }
    for (const given of [[portal, { ...portal, clientId: 'other' }], async () => portal]) {
      const warnings: string[] = []
      const portals = portalsOf(given, 1000, (message) => warnings.push(message))
      await portals.find(PORTAL.clientId)
      const isSeen = warnings.some((warning) => warning.includes('a clientSecret has less than 22 characters'))
      t.equal(isSeen, isWarned, String(clientSecret))
      t.notMatch(warnings.join(), 'hush', String(clientSecret))
    }
  }
})

t.test('a function that returns no portal: the reason, without a secret or what was asked', async (t) => {
  const cases: Array<[unknown, RegExp]> = [
    ['a text with hush in it', /"portal\(\)" must be an object with .*; got a string of 22 characters$/],
    [false, /"portal\(\)" must be .*; got a boolean$/],
    [{}, /\(\)\.loginUrl" must be .*; got undefined$/]
  ]
  for (const [returned, message] of cases) {
    const portals = portalsOf(async () => returned as Portal, 1000, noWarning)
    const { reason, context: { cause, ...context } } = await Promise.resolve(portals.find('hush-id'))
      .then(() => { throw new Error('It was accepted') }, (error: OAuthError) => error)
    t.strictSame([reason, context], ['portal_failed', {}], String(message))
    t.match((cause as Error).message, message, String(message))
    t.notMatch((cause as Error).message, 'hush', String(message))
  }
})

t.test('two readings of a client_id: the second is looked up where the first is unknown', async (t) => {
  const asked: string[] = []
  const portals = portalsOf(async (clientId) => {
    asked.push(clientId)
    return clientId === 'a b' ? { ...PORTAL, clientId } : null
  }, 1000, noWarning)
  const authenticate = (...clientId: string[]) =>
    portals.authenticate({ clientId, clientSecret: ['x', PORTAL.clientSecret] })
  t.match(await authenticate('none', 'a b'), { secretIndex: 0 })
  t.match(await authenticate('a b', 'a b'), { secretIndex: 0 }, 'by the secret')
  await t.rejects(authenticate('none', 'none'), { message: 'Client authentication failed.' })
  t.strictSame(asked, ['none', 'a b', 'a b', 'none'], 'equal readings are one lookup')
})
