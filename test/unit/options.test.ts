// A bad option fails at register() with an error that names the option, what it got (never a secret) and what it wants.
import Fastify from 'fastify'
import t from 'tap'
import partnerSso, { type PartnerSsoOptions } from '../../lib/index.ts'
import { resolveOptions } from '../../lib/options.ts'
import { hostOptions, PORTAL } from '../helpers/host.ts'

const register = async (overrides: object): Promise<string> => {
  const app = Fastify()
  try {
    await app.register(partnerSso, { ...hostOptions(), ...overrides } as PartnerSsoOptions)
    return ''
  } catch (error) {
    return (error as Error).message
  } finally {
    await app.close()
  }
}
const portal = (overrides: object) => ({ portal: { ...PORTAL, ...overrides } })

t.test('bad options', async (t) => {
  const cases: [object, RegExp][] = [
    [{ portal: undefined }, /"portal" must be an object, or an array of them; got undefined/],
    [{ portal: null }, /"portal" must be an object/],
    [{ portal: [] }, /"portal" must be one portal at least; got an array/],
    [{ portal: [PORTAL, { ...PORTAL, clientSecret: 'other' }] }, /"portal" must be portals with different clientIds; got "partner-123"/],
    [{ portal: [PORTAL, { ...PORTAL, clientId: '' }] }, /"portal\[1\]\.clientId" must be .*; got ""/],
    [portal({ clientId: 1 }), /"portal\.clientId" must be .*; got 1/],
    [portal({ clientId: 'é' }), /"portal\.clientId" must be .*; got "é"/],
    [portal({ clientSecret: undefined }), /"portal\.clientSecret" must be a non-empty string.*them$/],
    [portal({ clientSecret: [] }), /"portal\.clientSecret"/],
    [portal({ clientSecret: ['ok', ''] }), /"portal\.clientSecret"/],
    [portal({ clientSecret: 'hush\n' }), /"portal\.clientSecret"(?!.*hush)/],
    [portal({ loginUrl: '/external-oauth/1' }), /"portal\.loginUrl" must be an absolute https or http URL; got "\/external/],
    [portal({ loginUrl: 'javascript:alert(1)' }), /"portal\.loginUrl"/],
    [portal({ loginUrl: 'ftp://a:hush@portal.example/' }), /"portal\.loginUrl" must be an absolute https or http URL$/],
    [portal({ loginUrl: 'https://a:hush@portal.example:port/' }), /"portal\.loginUrl" must be an absolute https or http URL$/],
    [portal({ redirectUri: 'https://a:hush@portal.example/é' }), /"portal\.redirectUri" must be an absolute URL in visible ASCII characters$/],
    [portal({ loginUrl: 'https://a:hush@portal.example/' }), /"portal\.loginUrl" must be a URL without user information$/],
    [portal({ level: 'Partner' }), /"portal\.level" must be "partner" or "client"; got "Partner"/],
    [portal({ redirectUri: undefined }), /"portal\.redirectUri" must be an absolute URL .*; got undefined/],
    [portal({ redirectUri: '/callback' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'ftp://portal.example/' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example/\ncb' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example/é' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example\\cb' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'http://portal.example/cb' }), /"portal\.redirectUri" must be https \(http for loopback hosts only\); got/],
    [portal({ redirectUri: 'http://127.0.0.1.example/cb' }), /"portal\.redirectUri" must be https/],
    [portal({ redirectUri: 'http://localhost.example/cb' }), /"portal\.redirectUri" must be https/],
    [portal({ redirectUri: 'http://notlocalhost/cb' }), /"portal\.redirectUri" must be https/],
    [portal({ redirectUri: 'https://portal.example/cb#' }), /"portal\.redirectUri" must be a URL without fragment/],
    [portal({ redirectUri: 'https://a:hush@portal.example/cb' }), /"portal\.redirectUri" must be a URL without user information$/],
    [portal({ redirectUri: 'https://:hush@portal.example/cb' }), /"portal\.redirectUri" must be a URL without user information$/],
    [portal({ redirectUri: 'https://portal.example/cb?c%6fde=1' }), /"portal\.redirectUri" must be a URL without a code, state or error/],
    [portal({ redirectUri: 'https://portal.example/cb?state' }), /"portal\.redirectUri" must be a URL without a code/],
    [portal({ redirectUri: 'https://portal.example/cb?error=' }), /"portal\.redirectUri" must be a URL without a code/],
    [{ currentUser: null }, /"currentUser" must be a function .*; got null/],
    [{ portalEligibility: 'x' }, /"portalEligibility" must be a function .*; got "x"/],
    [{ loginPage: '' }, /"loginPage" must be a URL/],
    [{ loginPage: 1 }, /"loginPage" must be a URL/],
    [{ loginPage: '/a b' }, /"loginPage" must be a URL/],
    [{ onEvent: {} }, /"onEvent" must be a function .*; got object/],
    [{ routeOptions: null }, /"routeOptions" must be an object/],
    [{ routeOptions: 'x' }, /"routeOptions" must be an object/],
    [{ redis: 'hush' }, /"redis" must be a redis:\/\/ or rediss:\/\/ URL, ioredis options, or an ioredis client$/],
    [{ redis: 'xredis://localhost' }, /"redis" must be a redis:\/\/ or rediss:\/\/ URL/],
    [{ redis: 'redis://:hush@localhost:port' }, /"redis" must be a redis:\/\/ .* client$/],
    [{ redis: 'redis://:hush%zz@localhost' }, /"redis" must be a redis:\/\/ .* client$/],
    [{ redis: 'redis://hush%zz:hush@localhost' }, /"redis" must be a redis:\/\/ .* client$/],
    [{ redis: 'redisx://localhost' }, /"redis" must be/],
    [{ redis: 6379 }, /"redis" must be/],
    [{ redis: null }, /"redis" must be/],
    [{ store: {} }, /"store" must be an object with the methods put, take and revoke; got object/],
    [{ store: null }, /"store" must be an object/],
    [{ redis: {}, store: { put () {}, take () {}, revoke () {} } }, /"store" must be absent where redis is given; got "both"/],
    [{ keyPrefix: 1 }, /"keyPrefix" must be a string; got 1/],
    [{ codeLifetime: 0 }, /"codeLifetime" must be a whole number of seconds from 1 to 600; got 0/],
    [{ codeLifetime: 601 }, /"codeLifetime"/],
    [{ codeLifetime: 1.5 }, /"codeLifetime"/],
    [{ codeLifetime: '60' }, /"codeLifetime" .*; got "60"/],
    [{ tokenLifetime: 3601 }, /"tokenLifetime" must be a whole number of seconds from 1 to 3600; got 3601/],
    [{ storeTimeout: 0 }, /"storeTimeout" must be a whole number of milliseconds/],
    [{ storeTimeout: 30_001 }, /"storeTimeout"/],
    [{ memoryLimit: 0 }, /"memoryLimit" must be a whole number of records/],
    [{ memoryLimit: 2 ** 24 + 1 }, /"memoryLimit" must be a whole number of records from 1 to 16777216; got 16777217/],
    [portal({ clientId: '\t' }), /"portal\.clientId" must be a non-empty string of visible ASCII characters and spaces; got "\\t"/],
    [portal({ level: '' }), /"portal\.level" must be "partner" or "client"; got ""/],
    [portal({ loginUrl: 'xhttps://portal.example/' }), /"portal\.loginUrl" must be an absolute/],
    [portal({ loginUrl: 'httpsx://portal.example/' }), /"portal\.loginUrl" must be an absolute/],
    [portal({ loginUrl: 'https://a@portal.example/' }), /"portal\.loginUrl" must be a URL without user information$/],
    [portal({ loginUrl: 'https://:hush@portal.example/' }), /"portal\.loginUrl" must be a URL without user information$/],
    [portal({ redirectUri: ' https://portal.example/cb' }), /"portal\.redirectUri" must be an absolute URL/],
    [{ codeLifeTime: 60 }, /there is no option "codeLifeTime"; there are portal, currentUser/]
  ]
  for (const [overrides, message] of cases) {
    t.match(await register(overrides), message, JSON.stringify(overrides))
  }
})

t.test('good options', async (t) => {
  const cases: object[] = [
    {},
    portal({ redirectUri: 'http://localhost/cb' }),
    portal({ redirectUri: 'http://portal.localhost:3000/cb' }),
    portal({ redirectUri: 'http://127.1.2.3/cb?a=b' }),
    portal({ redirectUri: 'http://127.0.0.10/cb' }),
    portal({ redirectUri: 'http://[::1]:80/cb' }),
    portal({ loginUrl: 'http://portal.example/', level: 'partner' }),
    portal({ redirectUri: 'https://portal.example?x=@' }),
    portal({ clientSecret: ['a', 'b'], level: 'client' }),
    { portal: [PORTAL, { ...PORTAL, clientId: 'other' }] },
    { codeLifetime: 1, tokenLifetime: 3600, storeTimeout: 30_000, memoryLimit: 1, keyPrefix: '' },
    { codeLifetime: 600, tokenLifetime: 1, storeTimeout: 1, memoryLimit: 2 ** 24 },
    { loginPage: undefined, redis: undefined, prefix: '/sso', logLevel: 'warn', onEvent: () => {} }
  ]
  for (const overrides of cases) {
    t.equal(await register(overrides), '', JSON.stringify(overrides))
  }
})

t.test('the defaults', async (t) => {
  const options = hostOptions()
  t.match(resolveOptions(options), {
    portal: [PORTAL],
    keyPrefix: 'partner-sso:',
    memoryLimit: 100_000,
    storeTimeout: 1000,
    codeLifetime: 60,
    tokenLifetime: 60,
    routeOptions: {},
    prefix: ''
  })
  const { keyPrefix, codeLifetime } = resolveOptions({ ...options, keyPrefix: undefined, codeLifetime: 5 } as unknown as PartnerSsoOptions)
  t.strictSame([keyPrefix, codeLifetime], ['partner-sso:', 5], 'what is undefined counts as absent')
})
