// The OpenAPI document beside the page for the developers of a portal says what the routes say of themselves.
// UPDATE_OPENAPI=1 writes it.
import { readFileSync, writeFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import t from 'tap'
import { UserInformation } from '../../lib/index.ts'
import { startApp } from '../app.ts'
import { refusals } from '../contract/refusals.ts'

const FILE = 'lib/routes/openapi.json'

const openapi = {
  openapi: '3.1.0',
  info: {
    title: 'fastify-partner-sso: what a portal calls',
    description: 'The three endpoints at the app of a partner. A partner may have put a prefix before the paths.',
    version: String(JSON.parse(readFileSync('package.json', 'utf8')).version)
  },
  servers: [{ url: 'https://partner.example' }]
}

t.test('the document is the one that @fastify/swagger makes of the routes', async (t) => {
  const { app } = await startApp(t, { login: false, prepare: (app) => app.register(swagger, { openapi }) })
  const { components, ...document } = app.swagger() as unknown as Record<string, unknown>
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (process.env.UPDATE_OPENAPI === '1') writeFileSync(FILE, text)
  t.equal(readFileSync(FILE, 'utf8'), text, 'current: if not, run this test with UPDATE_OPENAPI=1')
})

t.test('the document has each status that a request can get', async (t) => {
  const { paths } = JSON.parse(readFileSync(FILE, 'utf8'))
  const endpoints = {
    page: paths['/oauth/authorize'].get,
    redirect: paths['/oauth/authorize'].get,
    token: paths['/oauth/token'].post,
    user: paths['/oauth/user'].get
  }
  for (const [reason, { at, status }] of Object.entries(refusals)) {
    // GET /oauth/token is no part of the document.
    if (status !== 405) t.ok(endpoints[at].responses[status], `${reason}: ${at} ${status}`)
  }
  const { schema } = endpoints.user.responses[200].content['application/json']
  t.match(schema.anyOf, UserInformation.anyOf.map(({ required }) => ({ required })), 'the record')
})
