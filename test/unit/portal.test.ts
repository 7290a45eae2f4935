// The registered portals: where they are sent back to, and how they authenticate (contract sections 1, 3 and 4).
import t from 'tap'
import { type OAuthError } from '../../lib/errors.ts'
import { Portals, RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'

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
  const { information } = new RegisteredPortal(PORTAL)
  t.strictSame(information, { ...known, level: 'partner' })
  t.ok(Object.isFrozen(information))
  t.equal(new RegisteredPortal({ ...PORTAL, level: 'client' }).information.level, 'client')
})

t.test('what a code is bound to: the portal and its redirect_uri, told apart', async (t) => {
  const binding = (clientId: string, redirectUri: string): string => new RegisteredPortal({ ...PORTAL, clientId, redirectUri }).binding
  t.equal(binding('a', 'https://p.example/'), binding('a', 'https://p.example/'))
  t.not(binding('a', 'https://p.example/'), binding('b', 'https://p.example/'))
  t.not(binding('a', 'https://p.example/'), binding('a', 'https://p.example/x'))
  t.not(binding('a"', 'b'), binding('a', '"b'))
})

t.test('each secret of each portal, and no other', async (t) => {
  const portals = new Portals([PORTAL, { ...PORTAL, clientId: 'two', clientSecret: ['old', 'new', 'newer'] }])
  const reason = (clientId: string, clientSecret: string): Pick<OAuthError, 'reason' | 'context'> => {
    try {
      portals.authenticate(clientId, clientSecret)
    } catch (error) {
      const { reason, context } = error as OAuthError
      return { reason, context }
    }
    throw new Error('it was accepted')
  }
  t.equal(portals.authenticate(PORTAL.clientId, PORTAL.clientSecret as string), portals.all[0])
  for (const secret of ['old', 'new', 'newer']) t.equal(portals.authenticate('two', secret), portals.all[1])
  const wrong = { reason: 'client_secret_wrong', context: { clientId: 'two' } }
  for (const secret of ['', 'ol', 'oldnew', PORTAL.clientSecret as string]) t.strictSame(reason('two', secret), wrong)
  t.strictSame(reason('three', 'old'), { reason: 'client_unknown', context: {} })
  t.equal(portals.find('two'), portals.all[1])
  t.equal(portals.find('three'), undefined)
})
