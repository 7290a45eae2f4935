// A bad option fails at register() with an error that names the option, what it got (never a secret) and what it wants.
import { inspect } from 'node:util'
import t from 'tap'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { checkPrefix, resolveOptions } from '../../lib/options/checked-options.ts'
import type { ResolvedOptions } from '../../lib/options/checked-options.ts'
import { pluginOptions, PORTAL } from '../app.ts'

const resolve = (overrides: object, warnings: string[] = []): ResolvedOptions =>
  resolveOptions({ ...pluginOptions({ loginPage: '/login' }), ...overrides }, (message) => { warnings.push(message) })

/** Options in which one has this value: `redis`, or the field of a portal by `portal.clientId`. */
function optionsWith (name: string, value: unknown): object {
  const [, field] = /^portal\.(\w+)/.exec(name) ?? []
  if (field === undefined) return { [name.replace(/[[(].*/, '')]: value }
  return { portal: { ...PORTAL, [field]: value } }
}

/** What refuses the option. */
function refusal (name: string, value: unknown): string {
  try {
    resolve(optionsWith(name, value))
    return 'It was accepted'
  } catch (error) {
    return (error as Error).message
  }
}

const methods = { put () {}, take () {}, revoke () {} }
const VISIBLE = 'a non-empty string of visible ASCII characters and spaces'
const URI = 'an absolute https or http URL of visible ASCII characters, without user information'
const noUris = [
  undefined, 'hush', 'javascript:hush', 'https:hush', 'xhttps://portal.example/', ' https://portal.example/cb',
  'https://portal.example/\ncb', 'https://portal.example/é', 'https://portal.example\\cb',
  'https://a:hush@portal.example:port/', 'https://a:hush@portal.example/', 'https://a@portal.example/',
  new URL(PORTAL.loginUrl)
]

/** `hush` is a secret: no error repeats it. */
const bad: Array<[name: string, wants: string, values: unknown[]]> = [
  ['portal', 'an object, an array of them, or a function', [undefined, JSON.stringify({ clientSecret: 'hush' })]],
  ['portal', 'portals with different clientIds; got the same one twice', [[PORTAL, { ...PORTAL }]]],
  ['portal[0]', 'an object with the values of a portal', [['hush']]],
  ['portal[1].clientId', VISIBLE, [[PORTAL, { ...PORTAL, clientId: '' }]]],
  ['portal.clientId', VISIBLE, [undefined, 1, 'hushé', 'hush\r', '\t']],
  ['portal.clientSecret', VISIBLE, [undefined, '', [], 5417, 'hush\n', 'hushé']],
  ['portal.clientSecret[1]', VISIBLE, [['hush', ''], ['hush', ['hush']]]],
  ['portal.level', '"partner" or "client"', ['', 'Partner', 'hush hush']],
  ['portal.loginUrl', URI, noUris],
  ['portal.redirectUri', URI, noUris],
  ['portal.redirectUri', 'https (http for loopback hosts only)', [
    'http://portal.example/cb', 'http://127.0.0.1.example/cb', 'http://localhost.example/cb', 'http://notlocalhost/cb'
  ]],
  ['portal.redirectUri', 'a URL without fragment', ['https://portal.example/cb#']],
  ['portal.redirectUri', 'a URL without a code, state or error parameter', [
    'https://portal.example/cb?c%6fde=1', 'https://portal.example/cb?state', 'https://portal.example/cb?error='
  ]],
  ['currentUser', 'a function (request, reply) => user or null', ['hush']],
  ['portalEligibility', 'a function (user, context) => record or null', [undefined]],
  ['errorPage', 'a function (refusal, request, reply) => HTML or reply', ['<h1>']],
  ['onEvent', 'a function (event, request, cause) => void', ['hush']],
  ['loginPage', 'a URL in visible ASCII characters, or a function', [
    '', 1, '/a b', 'https://a:hush@login.example/é', '/\\login.example'
  ]],
  ['routeOptions', 'an object of Fastify route options, or a function (route) => options', [null, 'hush', []]],
  ["routeOptions('authorize')", 'an object of Fastify route options', [() => 'hush']],
  [
    "routeOptions('authorize')",
    'Fastify route options, the same for each route unless routeOptions is a function (route) => options',
    [async () => ({ config: {} }), { token: { config: {} } }]
  ],
  ['redis', 'a redis:// or rediss:// URL with a host', [
    'redis://:hush@a:port', null, { url: 'redis://:hush@a' }
  ]],
  ['store', '"memory", or an object with the methods put, take and revoke', [
    { ...methods, revoke: undefined }, 'redis://user:hush@localhost'
  ]],
  ['keyPrefix', 'a string', [['hush']]],
  ['codeLifetime', 'a whole number of seconds from 1 to 600', [0, 601, 1.5, '60', NaN]],
  ['tokenLifetime', 'a whole number of seconds from 1 to 3600', [0, 3601]],
  ['storeTimeout', 'a whole number of milliseconds from 1 to 30000', [0, 30_001]],
  ['memoryLimit', 'a whole number of records from 1 to 16777216', [0, 2 ** 24 + 1]]
]

t.test('bad options', async (t) => {
  for (const [name, wants, values] of bad) {
    for (const value of values) {
      const message = refusal(name, value)
      const row = `${name}: ${inspect(value, { depth: 1, breakLength: Infinity })}`
      const expected = `partner-sso: option "${name}" must be ${wants}`
      t.equal(message.slice(0, expected.length), expected, row)
      t.notMatch(message, 'hush', `no secret is repeated: ${row}`)
    }
  }
  t.throws(() => resolve({ redis: {}, store: methods }), /"store" must be absent where redis is given; got both$/)
})

t.test('what it got: a number, a URL without user information, and the kind of anything else', async (t) => {
  for (const [name, value, got] of [
    ['portal.clientId', 7, 'a number'],
    ['portal.clientId', '', 'an empty string'],
    ['portal.clientId', 'a\r', 'a string of 2 characters that has a line break'],
    ['portal.clientId', ['hush'], 'an array'],
    ['codeLifetime', 601, '601'],
    ['portal.redirectUri', 'http://portal.example/cb', '"http://portal.example/cb"']
  ] as const) t.ok(refusal(name, value).endsWith(`; got ${got}`), got)
})

t.test('an error is one of Fastify with a code, which a program can compare, and a TypeError', async (t) => {
  for (const [code, options] of [
    ['FST_PARTNER_SSO_OPTION_INVALID', { codeLifetime: 0 }],
    ['FST_PARTNER_SSO_OPTION_INVALID', { portal: { ...PORTAL, clientId: '' } }],
    ['FST_PARTNER_SSO_OPTION_INVALID', { routeOptions: () => 'hush' }],
    ['FST_PARTNER_SSO_OPTION_UNKNOWN', { codeLifetimes: 60 }]
  ] as const) {
    const row = `${code}: ${inspect(options)}`
    const error = t.throws(() => resolve(options), { name: 'FastifyError', code, statusCode: 500 }, row)
    t.ok(error instanceof TypeError, row)
  }
  t.throws(() => checkPrefix('//sso'), { code: 'FST_PARTNER_SSO_OPTION_INVALID' }, 'the prefix of the scopes around')
})

t.test('a path with a parameter or two slashes', async (t) => {
  for (const prefix of ['/:tenant', '/sso/*', '/sso:id']) {
    t.throws(() => checkPrefix(prefix), /"prefix" must be a path without parameters: .*; got a string of/, prefix)
  }
  t.throws(() => checkPrefix('//sso'), /"prefix" must be a path that begins with one slash; got a string of 5 char/)
  t.doesNotThrow(() => checkPrefix('/a::b/c::d'))
})

t.test('names: a misspelt one is an error, any other is named in one warning', async (t) => {
  for (const name of ['code_life_time', 'cdeLifetime', 'codeLifetimes', 'codeLifetine', 'codeLifteime']) {
    const message = `partner-sso: there is no option "${name}"; did you mean "codeLifetime"?`
    t.throws(() => resolve({ dir: 'routes', [name]: 'hush' }), { message }, name)
  }
  // As @fastify/autoload and fastify-cli add them.
  const others = ['dir', 'name', 'options', 'port', 'host', 'forceESM', 'autoHooks', 'logger', 'codeLiftemie']
  const warnings: string[] = []
  resolve(Object.fromEntries(others.map((name) => [name, true])), warnings)
  t.strictSame(warnings.splice(0), [`partner-sso: unknown options are ignored: ${others.join(', ')}`])
  resolve({}, warnings)
  t.strictSame(warnings.splice(0), [])
  resolve({ loginPage: undefined }, warnings)
  t.match(warnings, [/^partner-sso: no loginPage is given: .*access_denied$/])
})

t.test('without the four values and Redis: one warning each', async (t) => {
  const warnings: string[] = []
  const { portal, redis } = resolve({ portal: [], redis: '' }, warnings)
  t.strictSame([portal, redis], [[], undefined])
  t.match(warnings, [/^partner-sso: portal is an empty array: every client is unknown/])
  t.doesNotThrow(() => resolve({ redis: '', store: 'memory' }))
})

t.test('good options', async (t) => {
  const good: Array<[name: string, values: unknown[]]> = [
    ['portal.redirectUri', [
      'http://localhost/cb', 'http://portal.team.localhost:3000/cb', 'http://127.1.2.3/cb?a=b', 'http://[::1]:80/cb',
      'https://portal.example?x=@'
    ]],
    ['portal.loginUrl', ['http://portal.example/']],
    ['codeLifetime', [1, 600]],
    ['tokenLifetime', [1, 3600]],
    ['storeTimeout', [1, 30_000]],
    ['memoryLimit', [1, 2 ** 24]],
    ['keyPrefix', ['']]
  ]
  for (const [name, values] of good) {
    for (const value of values) t.equal(refusal(name, value), 'It was accepted', `${name}: ${String(value)}`)
  }
})

t.test('the defaults; what is undefined counts as absent', async (t) => {
  const defaults = {
    keyPrefix: 'partner-sso:', memoryLimit: 100_000, storeTimeout: 1000, codeLifetime: 60, tokenLifetime: 60
  }
  const { portal, currentUser, portalEligibility } = pluginOptions()
  const names = [...Object.keys(defaults), 'routeOptions', 'loginPage', 'errorPage', 'redis', 'store', 'onEvent']
  const absent = Object.fromEntries(names.map((name) => [name, undefined]))
  t.strictSame(resolveOptions({ portal, currentUser, portalEligibility, ...absent } as PartnerSsoOptions, () => {}), {
    ...defaults,
    routeOptions: { authorize: {}, token: {}, user: {} },
    portal: [{ ...PORTAL, level: 'partner' }],
    currentUser,
    portalEligibility
  })
})

t.test('routeOptions as a function is asked once for each route', async (t) => {
  const asked: string[] = []
  const { routeOptions } = resolve({
    routeOptions (route: string) {
      asked.push(route)
      return route === 'token' ? { handlerTimeout: 1, constraints: undefined } : undefined
    }
  })
  t.strictSame(asked, ['authorize', 'token', 'user'])
  t.strictSame(routeOptions, { authorize: {}, token: { handlerTimeout: 1 }, user: {} })
})
