// A portal has registered a redirect_uri with a query of its own, and a state with anything in it: were they put
// together carelessly, code, state or error would be cut off, shadowed or mixed up with what was there, and the portal
// would compare the wrong state. A real URL parser finds each of them once, and the registered query as it was.
import fc from 'fast-check'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { authorizePath, request, say } from './helpers/raw.ts'
import { CODE, rounds, seed, wellFormed } from './helpers/settings.ts'

const RUNS = rounds('STATE_RUNS', 400)

const queries = [
  '',
  '?',
  '?a',
  '?a=',
  '?a=b',
  '?a=b&',
  '?a=b&&',
  '?&',
  '??',
  '?a=b?c=d',
  '?a=b&a=c',
  '?a[]=b&a[]=c',
  '?a[b]=c'.replaceAll(/[[\]]/g, encodeURIComponent),
  '?a;b',
  '?a=b;c=d',
  '?=',
  '?=b',
  '?a==b',
  '?a=%26',
  '?a=%3D',
  '?a=%23',
  '?a=%3F',
  '?a=%2B+%20',
  '?a=%',
  '?a=%zz',
  '?a=%E2%98%83',
  '?a=%00',
  '?a=%0D%0A',
  "?a='b'",
  '?a=(b)',
  '?a=b!*~',
  '?a=/b/../c',
  '?a=@b:c',
  '?codes=1',
  '?xcode=1',
  '?code_=1',
  '?CODE=1',
  '?State=1',
  '?error_uri=x',
  '?a=code',
  '?a=%26code=x',
  '?next=https://portal.example/?code=1',
  `?a=${'b'.repeat(1000)}`
]
const paths = ['', '/', '/cb', '/cb/', '/cb;v=1', '/%7Ecb', '/a%3Fb', '/a//b', '/..', '/cb.html']

const redirectUris = [
  ...queries.map((query) => `https://portal.example/cb${query}`),
  ...paths.flatMap((path) => [`https://portal.example${path}`, `https://portal.example${path}?a=b`]),
  'https://portal.example:8443/cb?a=b',
  'http://localhost:3000/cb?a=b',
  'http://127.0.0.1/cb',
  'http://[::1]:3000/cb?a',
  'http://x.localhost/cb'
].filter((uri, index, all) => all.indexOf(uri) === index)

/** What a real URL parser finds besides the parameters that were added. */
function others (url: URL): string[][] {
  return [...url.searchParams].filter(([name]) => !['code', 'state', 'error', 'error_description'].includes(name))
}

await t.test(`${redirectUris.length} registered redirect URIs`, async (t) => {
  const portals = redirectUris.map((redirectUri, index) => ({ ...PORTAL, clientId: `portal-${index}`, redirectUri }))
  const { url } = await startHost(t, { portal: portals })
  const state = 'a=b&c=d#e?f /\\"<>\' %25 + ü ☃'
  for (const portal of portals) {
    const registered = new URL(portal.redirectUri)
    const read = async (changes: Record<string, string>, user: string) => {
      const { status, headers } = await wire(url, portal).authorize({ state, ...changes }, user)
      const location = headers.get('location') as string
      t.equal(status, 302, portal.redirectUri)
      t.ok(location.startsWith(portal.redirectUri), 'the registered one, as it was')
      const found = new URL(location)
      t.equal(found.origin + found.pathname + found.hash, registered.origin + registered.pathname, 'the place')
      t.strictSame(
        others(found).filter(([name]) => name !== ''),
        others(registered).filter(([name]) => name !== ''),
        'its own query'
      )
      return found.searchParams
    }
    const success = await read({}, 'alice')
    t.strictSame(success.getAll('code').map((code) => code.length), [CODE])
    t.strictSame(success.getAll('state'), [state])
    t.notOk(success.has('error'))
    const failure = await read({}, 'nobody')
    t.strictSame(failure.getAll('error'), ['access_denied'])
    t.strictSame(failure.getAll('state'), [state])
    t.notOk(failure.has('code'))
  }
})

await t.test(`${RUNS} states`, async (t) => {
  t.comment(`SEED=${seed}`)
  const { url } = await startHost(t)
  const portal = wire(url)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), async (text) => {
      const state = wellFormed(text)
      const { redirect } = await portal.authorize({ state })
      const isGood = redirect.getAll('state').join() === state && redirect.get('code')?.length === CODE
      if (!isGood) throw new Error(`came back as ${JSON.stringify(redirect.get('state'))}`)
    }),
    {
      numRuns: RUNS,
      seed,
      examples: [['#'], ['&code=x'], ['%26code%3Dx'], ['%'], ['+'], ['\u0000'], ['\r\nSet-Cookie: a=b'], ['\u2028']]
    }
  )
  t.pass('each came back as it was')
})

await t.test('states as bytes on the wire, encoded by nobody, come back as the same bytes', async (t) => {
  const { url } = await startHost(t)
  const visible = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
    (character) => character !== '&'
  )
  for (const raw of [
    ...visible.map((character) => `a${character}b`),
    visible.join(''),
    '%',
    '%4',
    '%zz',
    '%e2%98',
    'a%',
    '%00',
    '%0d%0aX:y',
    '+',
    '%2b',
    '%C3%BC',
    '%fc'
  ]) {
    const { text } = await say(url, request(`GET ${authorizePath(raw)}`, ['X-User: alice']))
    const location = /^location: (.*)$/im.exec(text)?.[1] as string
    const { searchParams, hash } = new URL(location)
    t.equal(hash, '', raw)
    t.strictSame(
      searchParams.getAll('state'),
      new URLSearchParams(`state=${raw.replaceAll('#', '%23')}`).getAll('state'),
      raw
    )
    t.equal(searchParams.get('code')?.length, CODE)
  }
})
