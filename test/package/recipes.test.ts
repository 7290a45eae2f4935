// Every program of the documents is compiled, strictly, against the package as it ships. The recipes are run.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import t from 'tap'
import { formLogin } from '../../examples/logins/form.ts'
import { portalRecord } from '../../examples/users.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { PORTAL } from '../app.ts'
import { prepared } from '../helpers/prepared.ts'
import { mustRun } from './commands.js'
import { written } from './documents.ts'

const SECRET = 'a secret of at least thirty-two characters'
process.env.PORTAL_CLIENT_SECRET = PORTAL.clientSecret
/** That of the recipe. */
const redirectUri = 'http://127.0.0.1:4180/oauth/callback'

const directory = await prepared(() => written(t))
mustRun('node_modules/.bin/tsc', ['-p', directory])

/** What a recipe exports. */
const recipe = async (name: string) => await import(pathToFileURL(join(directory, `${name}.mjs`)).href)

t.test('testing, in an app with the login of an example', async (t) => {
  const { signInAs } = await recipe('testing')
  const app = Fastify()
  t.teardown(() => app.close())
  const sso = { portal: { ...PORTAL, redirectUri }, portalEligibility: portalRecord }
  await formLogin(app, { sso, secret: SECRET, loginUrl: '/' })
  t.equal(await signInAs(app, 'u-1'), 'Ada Okafor enters as Partner Administrator')
  await t.rejects(signInAs(app, 'u-4'), { message: /^Step \d+: expected .*access_denied/s })
})

t.test('store', async () => {
  const { MapStore } = await recipe('store')
  await checkStore(new MapStore())
})

t.test('what error trackers and traces are given has no secret, code or token', async (t) => {
  const { sentry, spanProcessor } = await recipe('logger')
  const secrets = ['s3cr+t', 'the-code', 'the-token', 'dXNlcjpwYXNz']
  const query = 'client_secret=s3cr%2Bt&code=the-code&state=a'
  const url = `https://partner.example/oauth/token?${query}`
  const attributes = { 'url.path': `/oauth/token?${query}`, 'url.query': query, 'http.url': url, port: 443 }
  const request = {
    data: `grant_type=authorization_code&${query}`,
    query_string: query,
    headers: { authorization: 'Bearer the-token', 'proxy-authorization': 'Basic dXNlcjpwYXNz' }
  }
  for (const hook of [sentry.beforeSend, sentry.beforeSendSpan]) {
    const given = { message: 'a "quoted" text', request, attributes }
    const sent = hook(given)
    const text = JSON.stringify(sent)
    t.match(sent, { message: given.message, request: { data: /^grant_type=authorization_code&.*&state=a$/ } }, text)
    t.strictSame([...secrets, 's3cr%2Bt'].filter((secret) => text.includes(secret)), [], text)
  }
  spanProcessor.onEnd({ attributes })
  const masked = 'client_secret=…&code=…&state=a'
  t.match(attributes, { 'url.path': `/oauth/token?${masked}`, 'url.query': masked, port: 443 })
})
