// Every program of the documents is compiled, strictly, against the package as it ships. The recipes are run, and
// signed in to.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { formLogin } from '../../examples/logins/form.ts'
import { portalRecord } from '../../examples/users.ts'
import { checkStore, portal } from '../../lib/testing/index.ts'
import type { PortalDouble } from '../../lib/testing/index.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { prepared } from '../helpers/prepared.ts'
import { mustRun } from './commands.js'
import { written } from './documents.ts'

const SECRET = 'a secret of at least thirty-two characters'
process.env.PORTAL_CLIENT_SECRET = PORTAL.clientSecret
/** That of the recipe. */
const redirectUri = 'http://127.0.0.1:4180/oauth/callback'

const options = { portal: { ...PORTAL, redirectUri } }
const double = (app: FastifyInstance): PortalDouble => portal({ app, ...options.portal, timeout: 60_000 })
const alice = { ok: true, record: { external_id: 'alice' } }

const directory = await prepared(() => written(t))
mustRun('node_modules/.bin/tsc', ['-p', directory])

/** What a recipe exports. */
const recipe = async (name: string) => await import(pathToFileURL(join(directory, `${name}.mjs`)).href)

t.test('testing, in an app with the login of an example', async (t) => {
  const { signInAs } = await recipe('testing')
  const app = Fastify()
  t.teardown(() => app.close())
  await formLogin(app, { sso: { ...options, portalEligibility: portalRecord }, secret: SECRET, loginUrl: '/' })
  t.equal(await signInAs(app, 'u-1'), 'Ada Okafor enters as Partner Administrator')
  await t.rejects(signInAs(app, 'u-4'), { message: /^Step \d+: expected .*access_denied/s })
})

t.test('events', async (t) => {
  const { onEvent } = await recipe('events')
  const { app } = await startHost(t, { portal: options.portal, onEvent })
  t.match(await double(app).signIn({ headers: { 'x-user': 'alice' } }), alice)

  const lines: unknown[] = []
  const request = { log: { fatal: (...line: unknown[]) => lines.push(line) } }
  onEvent({ type: 'code_replayed', reason: 'code_replayed', externalId: 'alice', requestId: '1' }, request)
  onEvent({ type: 'code_issued', reason: 'ok', requestId: '1' }, request)
  t.strictSame(lines, [[{ reason: 'code_replayed', externalId: 'alice' }, 'Was a code stolen?']])
})

t.test('store', async (t) => {
  const { MapStore } = await recipe('store')
  await checkStore(new MapStore())
  const { app } = await startHost(t, { portal: options.portal, store: new MapStore() })
  t.match(await double(app).signIn({ headers: { 'x-user': 'alice' } }), alice)
})
