// A bad option fails at register() with an error that names the option, what it got (never a secret) and what it wants.
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { resolveOptions } from '../../lib/options/options.ts'
import { hostOptions, PORTAL } from '../helpers/host.ts'

const register = async (overrides: object): Promise<string> => {
  const app = Fastify()
  try {
    await app.register(partnerSso, { ...hostOptions(), loginPage: '/login', ...overrides } as PartnerSsoOptions)
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
    [{ portal: undefined }, /"portal" must be an object, an array of them, or a function .*; got undefined/],
    [{ portal: null }, /"portal" must be an object/],
    [{ portal: [] }, /"portal" must be one portal at least; got an empty array/],
    [
      { portal: [PORTAL, { ...PORTAL, clientSecret: 'other' }] },
      /"portal" must be portals with different clientIds; got the same in portal\[0\] and portal\[1\]$/
    ],
    [{ portal: [PORTAL, { ...PORTAL, clientId: '' }] }, /"portal\[1\]\.clientId" must be .*; got an empty string$/],
    [portal({ clientId: 1 }), /"portal\.clientId" must be .*; got a number$/],
    [portal({ clientId: 'hushé' }), /"portal\.clientId" must be .*; got a string of 5 characters$/],
    [
      portal({ clientId: 'hush\r' }),
      /"portal\.clientId" must be .*; got a string of 5 characters that has a line break$/
    ],
    [portal({ clientSecret: 5417 }), /"portal\.clientSecret" must be a non-empty string.*; got a number$/],
    [portal({ clientSecret: undefined }), /"portal\.clientSecret" must be a non-empty string.*; got undefined$/],
    [portal({ clientSecret: '' }), /"portal\.clientSecret" must be a non-empty string.*; got an empty string$/],
    [portal({ clientSecret: [] }), /"portal\.clientSecret" .*; got an empty array$/],
    [portal({ clientSecret: ['hush', ''] }), /"portal\.clientSecret\[1\]" .*; got an empty string$/],
    [
      portal({ clientSecret: 'hush\n' }),
      /"portal\.clientSecret" .*; got a string of 5 characters that has a line break$/
    ],
    [portal({ clientSecret: 'hushé' }), /"portal\.clientSecret" .* visible ASCII .*; got a string of 5 characters$/],
    [portal({ clientSecret: Buffer.from('hush') }), /"portal\.clientSecret" .*; got an object$/],
    [
      portal({ loginUrl: '/external-oauth/1' }),
      /"portal\.loginUrl" must be an absolute https or http URL; got a string of 17 characters$/
    ],
    [portal({ loginUrl: 'javascript:hush' }), /"portal\.loginUrl" must be .*; got a string of 15 characters$/],
    [portal({ loginUrl: 'hush-hush-hush' }), /"portal\.loginUrl" must be .*; got a string of 14 characters$/],
    [portal({ redirectUri: 'https:hush' }), /"portal\.redirectUri" must be .*; got a string of 10 characters$/],
    [portal({ redirectUri: 'hush' }), /"portal\.redirectUri" must be .*; got a string of 4 characters$/],
    [
      portal({ loginUrl: new URL(PORTAL.loginUrl) }),
      /"portal\.loginUrl" must be an absolute https or http URL; got an object$/
    ],
    [
      portal({ loginUrl: 'ftp://a:hush@portal.example/' }),
      /"portal\.loginUrl" must be an absolute https or http URL; got a string of \d+ characters$/
    ],
    [
      portal({ loginUrl: 'https://a:hush@portal.example:port/' }),
      /"portal\.loginUrl" must be an absolute https or http URL; got a string of \d+ characters$/
    ],
    [
      portal({ redirectUri: 'https://a:hush@portal.example/é' }),
      /"portal\.redirectUri" must be an absolute URL in visible ASCII characters; got a string of \d+ characters$/
    ],
    [
      portal({ loginUrl: 'https://a:hush@portal.example/' }),
      /"portal\.loginUrl" must be a URL without user information; got a URL that has some$/
    ],
    [portal({ level: 'Partner' }), /"portal\.level" must be "partner" or "client"; got a string of 7 characters$/],
    [portal({ level: 'hush' }), /"portal\.level" must be "partner" or "client"; got a string of 4 characters$/],
    [portal({ redirectUri: undefined }), /"portal\.redirectUri" must be an absolute URL .*; got undefined/],
    [portal({ redirectUri: '/callback' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'ftp://portal.example/' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example/\ncb' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example/\0' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example/é' }), /"portal\.redirectUri" must be an absolute URL/],
    [portal({ redirectUri: 'https://portal.example\\cb' }), /"portal\.redirectUri" must be an absolute URL/],
    [
      portal({ redirectUri: 'http://portal.example/cb' }),
      /"portal\.redirectUri" must be https \(http for loopback hosts only\); got "http:\/\/portal\.example\/cb"$/
    ],
    [portal({ redirectUri: 'http://127.0.0.1.example/cb' }), /"portal\.redirectUri" must be https/],
    [portal({ redirectUri: 'http://localhost.example/cb' }), /"portal\.redirectUri" must be https/],
    [portal({ redirectUri: 'http://notlocalhost/cb' }), /"portal\.redirectUri" must be https/],
    [portal({ redirectUri: 'https://portal.example/cb#' }), /"portal\.redirectUri" must be a URL without fragment/],
    [
      portal({ redirectUri: 'https://a:hush@portal.example/cb' }),
      /"portal\.redirectUri" must be a URL without user information; got a URL that has some$/
    ],
    [
      portal({ redirectUri: 'https://:hush@portal.example/cb' }),
      /"portal\.redirectUri" must be a URL without user information; got a URL that has some$/
    ],
    [
      portal({ redirectUri: 'https://portal.example/cb?c%6fde=1' }),
      /"portal\.redirectUri" must be a URL without a code, state or error/
    ],
    [portal({ redirectUri: 'https://portal.example/cb?state' }), /"portal\.redirectUri" must be a URL without a code/],
    [portal({ redirectUri: 'https://portal.example/cb?error=' }), /"portal\.redirectUri" must be a URL without a code/],
    [{ currentUser: null }, /"currentUser" must be a function .*; got null/],
    [{ portalEligibility: 'hush' }, /"portalEligibility" must be a function .*; got a string of \d+ characters$/],
    [{ loginPage: '' }, /"loginPage" must be a URL .*; got an empty string$/],
    [{ loginPage: 'hush hush' }, /"loginPage" must be a URL .*; got a string of 9 characters$/],
    [{ loginPage: 1 }, /"loginPage" must be a URL/],
    [{ loginPage: '/a b' }, /"loginPage" must be a URL/],
    [{ onEvent: {} }, /"onEvent" must be a function .*; got an object$/],
    [{ routeOptions: null }, /"routeOptions" must be an object/],
    [{ routeOptions: 'hush' }, /"routeOptions" must be an object .*; got a string of \d+ characters$/],
    [{ routeOptions: [] }, /"routeOptions" must be an object .*; got an empty array$/],
    [{ redis: 'hush' }, /"redis" must be .* URL, ioredis options, or a client of .*; got a string of 4 characters$/],
    [{ redis: 'xredis://localhost' }, /"redis" must be a redis:\/\/ or rediss:\/\/ URL/],
    [{ redis: 'redis://:hush@localhost:port' }, /"redis" must be a redis:\/\/ .*; got a string of \d+ characters$/],
    [{ redis: 'redis://:hush%zz@localhost' }, /"redis" must be a redis:\/\/ .*; got a string of \d+ characters$/],
    [{ redis: 'redis://hush%zz:hush@localhost' }, /"redis" must be a redis:\/\/ .*; got a string of \d+ characters$/],
    [{ redis: 'redisx://localhost' }, /"redis" must be/],
    [{ redis: 6379 }, /"redis" must be/],
    [{ redis: null }, /"redis" must be/],
    [{ redis: ['redis://:hush@localhost'] }, /"redis" must be .*; got an array$/],
    [{ redis: { isOpen: true, sendCommand () {}, get () {} } }, /"redis" must be .*; got an object$/],
    [{ redis: new Date() }, /"redis" must be .*; got an object$/],
    [{ store: {} }, /"store" must be an object with the methods put, take and revoke; got an object$/],
    [{ store: 'redis://user:hush@localhost' }, /"store" must be an object .*; got a string of \d+ characters$/],
    [
      { portal: JSON.stringify({ ...PORTAL, clientSecret: 'hush' }) },
      /"portal" must be an object, .*; got a string of \d+ characters$/
    ],
    [
      { portal: [JSON.stringify({ clientSecret: 'hush' })] },
      /"portal\[0\]" must be an object .*; got a string of \d+ characters$/
    ],
    [{ portal: [[PORTAL]] }, /"portal\[0\]" must be an object .*; got an array$/],
    [{ currentUser: 'hush' }, /"currentUser" must be a function .*; got a string of \d+ characters$/],
    [{ onEvent: 'hush' }, /"onEvent" must be a function .*; got a string of \d+ characters$/],
    [{ keyPrefix: ['hush'] }, /"keyPrefix" must be a string; got an array$/],
    [{ loginPage: ['hush'] }, /"loginPage" must be a URL .*; got an array$/],
    [{ loginPage: 'https://a:hush@login.example/ x' }, /"loginPage" must be a URL .*; got a string of \d+ characters$/],
    [{ memoryLimit: 'https://a:hush@x' }, /"memoryLimit" must be .*; got a string of \d+ characters$/],
    [{ tokenLifetime: true }, /"tokenLifetime" must be .*; got a boolean$/],
    [{ store: null }, /"store" must be an object/],
    [
      { redis: {}, store: { put () {}, take () {}, revoke () {} } },
      /"store" must be absent where redis is given; got both$/
    ],
    [{ keyPrefix: 1 }, /"keyPrefix" must be a string; got 1$/],
    [{ codeLifetime: 0 }, /"codeLifetime" must be a whole number of seconds from 1 to 600; got 0/],
    [{ codeLifetime: 601 }, /"codeLifetime"/],
    [{ codeLifetime: 1.5 }, /"codeLifetime"/],
    [{ codeLifetime: '60' }, /"codeLifetime" .*; got a string of 2 characters$/],
    [{ codeLifetime: 'hush' }, /"codeLifetime" .*; got a string of 4 characters$/],
    [{ codeLifetime: Infinity }, /"codeLifetime" .*; got Infinity$/],
    [{ tokenLifetime: 3601 }, /"tokenLifetime" must be a whole number of seconds from 1 to 3600; got 3601/],
    [{ storeTimeout: 0 }, /"storeTimeout" must be a whole number of milliseconds/],
    [{ storeTimeout: 30_001 }, /"storeTimeout"/],
    [{ memoryLimit: 0 }, /"memoryLimit" must be a whole number of records/],
    [{ memoryLimit: 2 ** 24 + 1 }, /"memoryLimit" must be a whole number of records from 1 to 16777216; got 16777217/],
    [portal({ clientId: '\t' }), /"portal\.clientId" must be .* visible ASCII .*; got a string of 1 characters$/],
    [portal({ level: '' }), /"portal\.level" must be "partner" or "client"; got an empty string$/],
    [portal({ loginUrl: 'xhttps://portal.example/' }), /"portal\.loginUrl" must be an absolute/],
    [portal({ loginUrl: 'httpsx://portal.example/' }), /"portal\.loginUrl" must be an absolute/],
    [
      portal({ loginUrl: 'https://a@portal.example/' }),
      /"portal\.loginUrl" must be a URL without user information; got a URL that has some$/
    ],
    [
      portal({ loginUrl: 'https://:hush@portal.example/' }),
      /"portal\.loginUrl" must be a URL without user information; got a URL that has some$/
    ],
    [portal({ redirectUri: ' https://portal.example/cb' }), /"portal\.redirectUri" must be an absolute URL/],
    [{ codeLifeTime: 60 }, /there is no option "codeLifeTime"; did you mean "codeLifetime"\?$/],
    [{ prefix: '/:tenant' }, /"prefix" must be a path without parameters: .*; got a string of 8 characters$/],
    [{ prefix: '/sso/*' }, /"prefix" must be a path without parameters/],
    [{ prefix: '/hush:hush' }, /"prefix" must be a path without parameters: .*; got a string of 10 characters$/]
  ]
  for (const [overrides, message] of cases) {
    const error = await register(overrides)
    t.match(error, message, JSON.stringify(overrides))
    t.notMatch(error, 'hush', 'no secret is repeated')
  }
})

t.test('a path with a parameter that a scope around the plugin has', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const scope = async (scope: FastifyInstance) => { await scope.register(partnerSso, hostOptions({ prefix: '/sso' })) }
  app.register(scope, { prefix: '/:tenant' })
  await t.rejects(async () => { await app.ready() },
    /option "prefix" must be a path without parameters: .*; got a string of 12 characters$/)
})

t.test('names: a misspelt one is an error, any other is named in one warning', async (t) => {
  const misspelt: Array<[string, string]> = [
    ['portals', 'portal'], ['Portal', 'portal'], ['current_user', 'currentUser'], ['currentuser', 'currentUser'],
    ['portalEligibilty', 'portalEligibility'], ['loginpage', 'loginPage'], ['login_page', 'loginPage'],
    ['reids', 'redis'], ['Redis', 'redis'], ['stores', 'store'], ['sotre', 'store'], ['keyprefix', 'keyPrefix'],
    ['memoryLimits', 'memoryLimit'], ['storeTimeOut', 'storeTimeout'], ['codeLifetme', 'codeLifetime'],
    ['tokenLifeTime', 'tokenLifetime'], ['onEvents', 'onEvent'], ['routeOption', 'routeOptions'], ['prefx', 'prefix']
  ]
  for (const [name, meant] of misspelt) {
    t.equal(await register({ [name]: 'hush' }), `partner-sso: there is no option "${name}"; did you mean "${meant}"?`)
  }

  const warnings: string[] = []
  const others = [
    'skipOverride', 'dir', 'name', 'encapsulate', 'dependencies', 'options', 'port', 'host', 'maxDepth', 'forceESM',
    'dirNameRoutePrefix', 'autoHooks', 'logger', 'bodyLimit', 'debug'
  ]
  const merged = Object.fromEntries(others.map((name) => [name, true]))
  const given = { ...hostOptions({ loginPage: '/login' }), ...merged }
  resolveOptions(given, (message) => { warnings.push(message) })
  t.strictSame(warnings, [`partner-sso: unknown options are ignored: ${others.join(', ')}`])
  resolveOptions(hostOptions({ loginPage: '/login' }), (message) => { warnings.push(message) })
  t.equal(warnings.length, 1, 'no warning where there are none')
})

t.test('no loginPage: one warning', async (t) => {
  const warnings: string[] = []
  resolveOptions(hostOptions(), (message) => { warnings.push(message) })
  t.strictSame(warnings, [
    'partner-sso: no loginPage is given: unless currentUser sends a reply of its own, a browser ' +
    'that is not logged in is sent back to the portal with access_denied'
  ])
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
    { loginPage: undefined, redis: undefined, prefix: '/sso', logLevel: 'warn', onEvent: () => {} },
    { prefix: '/a::b' },
    { portal: async () => null }
  ]
  for (const overrides of cases) {
    t.equal(await register(overrides), '', JSON.stringify(overrides))
  }
})

t.test('the defaults', async (t) => {
  const { storeTimeout, ...options } = hostOptions()
  const resolved = resolveOptions(options, () => {})
  const defaults = {
    keyPrefix: 'partner-sso:',
    memoryLimit: 100_000,
    storeTimeout: 1000,
    codeLifetime: 60,
    tokenLifetime: 60,
    routeOptions: {}
  }
  t.match(resolved, { ...defaults, portal: [{ ...PORTAL, level: 'partner' }] })
  const optional = ['loginPage', 'redis', 'store', 'onEvent', 'prefix', 'logLevel', 'logSerializers']
  const names = [...Object.keys(defaults), ...optional]
  const absent = Object.fromEntries(names.map((name) => [name, undefined]))
  t.strictSame(resolveOptions({ ...options, ...absent } as PartnerSsoOptions, () => {}), resolved,
    'what is undefined counts as absent')
  t.equal(await register(absent), '')
  t.equal(resolveOptions(hostOptions({ codeLifetime: 5 }), () => {}).codeLifetime, 5)
  const finder = () => null
  t.equal(resolveOptions(hostOptions({ portal: finder }), () => {}).portal, finder)
})
