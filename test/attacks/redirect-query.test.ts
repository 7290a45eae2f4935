// A portal has registered a redirect_uri with a query of its own, and a state with anything in it: were they put
// together carelessly, code, state or error would be cut off, shadowed or mixed up with what was there, and the portal
// would compare the wrong state. A real URL parser finds each of them once, and the registered query as it was.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'

const queries = [
  '', '?', '?a', '?a=', '?a=b', '?a=b&', '?a=b&&', '?&', '??', '?a=b?c=d', '?a=b&a=c', '?a[]=b&a[]=c', '?a%5Bb%5D=c',
  '?a;b', '?a=b;c=d', '?=', '?=b', '?a==b', '?a=%26', '?a=%3D', '?a=%23', '?a=%3F', '?a=%2B+%20', '?a=%', '?a=%zz',
  '?a=%E2%98%83', '?a=%00', '?a=%0D%0A', "?a='b'", '?a=(b)', '?a=b!*~', '?a=/b/../c', '?a=@b:c', '?codes=1', '?xcode=1',
  '?CODE=1', '?State=1', '?error_uri=x', '?a=code', '?a=%26code=x', '?next=https://portal.example/?code=1',
  `?a=${'b'.repeat(1000)}`
]
const paths = ['', '/', '/cb/', '/cb;v=1', '/%7Ecb', '/a%3Fb', '/a//b', '/..', '/cb.html']

const redirectUris = [
  ...queries.map((query) => `https://portal.example/cb${query}`),
  ...paths.flatMap((path) => [`https://portal.example${path}`, `https://portal.example${path}?a=b`]),
  'https://portal.example:8443/cb?a=b', 'http://localhost:3000/cb?a=b', 'http://127.0.0.1/cb', 'http://[::1]:3000/cb?a',
  'http://x.localhost/cb'
]
const STATE = 'a=b&c=d#e?f /\\"<>\' %25 + ü ☃'
/** What is added to it, for a user who may enter the portal and for one who may not. */
const ours = { alice: ['code', 'state'], nobody: ['error', 'error_description', 'state'] }
const isOurs = (name: string): boolean => Object.values(ours).flat().includes(name)

/** The place that a URL leads to, and the parameters in it that are not ours. */
function foreign (url: string): unknown {
  const { origin, pathname, hash, searchParams } = new URL(url)
  return { origin, pathname, hash, others: [...searchParams].filter(([name]) => name !== '' && !isOurs(name)) }
}

t.test('each registered redirect_uri', async (t) => {
  const portals = redirectUris.map((redirectUri, index) => ({ ...PORTAL, clientId: `portal-${index}`, redirectUri }))
  const { app } = await startHost(t, { portal: portals })
  for (const portal of portals) {
    for (const [user, own] of Object.entries(ours)) {
      const { headers } = await wire('', portal, { fetch: injecting(app) }).authorize({ state: STATE }, user)
      const location = headers.get('location') ?? ''
      const name = `${user} at ${portal.redirectUri}`
      t.ok(location.startsWith(portal.redirectUri), `${name}: ${location}`)
      t.match(location, /^[\x21-\x7e]+$/, name)
      t.strictSame(foreign(location), foreign(portal.redirectUri), name)
      const { searchParams } = new URL(location)
      t.strictSame([...searchParams.keys()].filter(isOurs), own, `each once: ${name}`)
      t.equal(searchParams.get('state'), STATE, name)
      t.equal(searchParams.get('code')?.length, user === 'alice' ? 44 : undefined, name)
    }
  }
})
