// The registered portals: what a hook is given, authentication, and what a function of the host may do
// wrong. Each secret: contract/checks/token.
import t from 'tap'
import type { Portal } from '../../lib/portal/portal.ts'
import { authenticate, portalsOf } from '../../lib/portal/portals.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../app.ts'
import { clockOf } from '../clock.ts'

const noWarning = (message: string): never => { throw new Error(message) }

t.test('a hook cannot change the portal', async (t) => t.ok(Object.isFrozen(new RegisteredPortal(PORTAL).information)))

t.test('code and state are added to a redirect_uri, whatever query it has of its own', async (t) => {
  for (const end of ['', '?', '?a=b&', '?a=%26code=x', '/cb;v=1?a=%23%zz']) {
    const redirectUri = `https://portal.example${end}`
    const location = new RegisteredPortal({ ...PORTAL, redirectUri }).callback('code=x', 'a%26b')
    t.ok(location.startsWith(redirectUri), location)
    const { searchParams } = new URL(location)
    t.strictSame([searchParams.getAll('code'), searchParams.getAll('state')], [['x'], ['a&b']], location)
  }
  t.equal(new RegisteredPortal(PORTAL).callback('error=x', undefined), `${PORTAL.redirectUri}?error=x`)
})

t.test('no name that every object has is a client_id', async (t) => {
  const portals = portalsOf([PORTAL], 1000, noWarning)
  for (const name of ['__proto__', 'constructor', 'size']) t.equal(await portals.find(name), undefined, name)
})

t.test('a secret that can be guessed: a warning, never the secret', async (t) => {
  for (const [clientSecret, isWarned] of [
    [['x'.repeat(22)], false], [['x'.repeat(21)], true], [['x'.repeat(30), 'hush'], true]
  ] as const) {
    const portal: Portal = { ...PORTAL, clientSecret: [...clientSecret] }
    const warnings: string[] = []
    portalsOf([portal], 1000, (message) => warnings.push(message))
    t.equal(warnings.join().includes('has less than 22 characters'), isWarned, clientSecret.join())
    t.notMatch(warnings.join(), 'hush', clientSecret.join())
  }
})

t.test('two readings of a client_id: the second is looked up where the first is unknown', async (t) => {
  const asked: string[] = []
  const portals = portalsOf(async (clientId) => {
    asked.push(clientId)
    return clientId === 'a b' ? { ...PORTAL, clientId } : null
  }, 1000, noWarning)
  const asOneOf = (...clientId: string[]) =>
    authenticate(portals, { clientId, clientSecret: ['x', PORTAL.clientSecret] })
  t.match(await asOneOf('none', 'a b'), { secretIndex: 0 })
  await t.rejects(asOneOf('none', 'none'), { message: 'Client authentication failed.' })
  t.strictSame(asked, ['none', 'a b', 'none'], 'equal readings are one lookup')
})

t.test('all readings of a client_id are looked up within one time limit', async (t) => {
  const asked: string[] = []
  const clock = clockOf(t)
  const portals = portalsOf((clientId) => {
    asked.push(clientId)
    clock.now += 1000
    return null
  }, 1000, noWarning)
  const found = clock.run(() => portals.find('first', 'second'))
  await t.rejects(found, { message: 'The service is temporarily unavailable.' })
  t.strictSame(asked, ['first'])
})
