// Sign-ins by libraries of other languages, as Debian has them, with a secret that they send unencoded in HTTP Basic.
// curl: test/package/endpoints.test.ts.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { PORTAL, RECORDS, sessionOf, startApp } from '../app.ts'
import { prepared } from '../helpers/prepared.ts'

const libraries = {
  'requests-oauthlib': ['/usr/bin/python3', 'test/flow/clients/sign_in.py'],
  'oauth2 of Ruby': ['/usr/bin/ruby', 'test/flow/clients/sign_in.rb']
} as const

const portal = { ...PORTAL, clientSecret: 'q+Z/8%2Bx%a secret=' }
const { url, events } = await prepared(() => startApp(t, { options: { portal } }))
const variables = {
  PATH: process.env.PATH,
  APP: url,
  COOKIE: sessionOf('ada'),
  CLIENT_ID: portal.clientId,
  CLIENT_SECRET: portal.clientSecret,
  REDIRECT_URI: portal.redirectUri,
  // It refuses http otherwise.
  OAUTHLIB_INSECURE_TRANSPORT: '1'
}

for (const [name, [program, file]] of Object.entries(libraries)) {
  for (const WAY of ['form', 'basic']) {
    t.test(`${name}, ${WAY}`, async (t) => {
      events.length = 0
      const { stdout } = await promisify(execFile)(program, [file], { env: { ...variables, WAY } })
      t.strictSame(JSON.parse(stdout), { record: RECORDS.ada, error: 'invalid_client' })
      const reported = events.map(({ type, reason }) => [type, reason])
      t.strictSame(reported, [
        ['code_issued', 'ok'],
        ['token_issued', 'ok'],
        ['user_information_returned', 'ok'],
        ['code_issued', 'ok'],
        ['client_authentication_failed', 'client_secret_wrong']
      ])
    })
  }
}
