// The commands of the page for the developers of a portal, by curl, against a server.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { readUserInformation, unlistedFields, UserInformation } from '../../lib/user-information.ts'
import { PORTAL, RECORDS, sessionOf, startApp } from '../app.ts'
import { refusals } from '../contract/refusals.ts'
import { prepared } from '../helpers/prepared.ts'
import { block, texts } from './documents.ts'

const registered = { ...PORTAL, clientSecret: 's3cr+t /%:=&~"<> of the portal' }
const { url } = await prepared(() => startApp(t, { options: {
  portal: registered
} }))

const variables = {
  APP: url,
  COOKIE: sessionOf('ada'),
  CLIENT_ID: PORTAL.clientId,
  CLIENT_SECRET: registered.clientSecret,
  REDIRECT_URI: PORTAL.redirectUri
}
const promised = promisify(execFile)

/** Runs a command of the page in a shell. */
async function run (name: string, more: Record<string, string> = {}): Promise<string> {
  const env = { PATH: process.env.PATH, ...variables, ...more }
  return (await promised('bash', ['-euc', block(`curl ${name}`)], { env })).stdout.trim()
}

t.test('the errors that each endpoint can send are in its table', async (t) => {
  const page = texts.get('lib/routes/README.md') as string
  const section = (title: string) => page.split(/^## /m).find((text) => text.startsWith(`\`${title}\``)) ?? ''
  const [authorize, token, user] = ['GET /oauth/authorize', 'POST /oauth/token', 'GET /oauth/user'] as const
  const sections = { page: authorize, redirect: authorize, token, user }
  for (const [reason, { at, status, error }] of Object.entries(refusals)) {
    const text = section(sections[at])
    // By redirect there is no status; the page says what has no redirect in a sentence.
    if (at === 'redirect') t.match(text, `\n| \`${error}\` | `, reason)
    else if (at === 'page') t.match(text, new RegExp(`\\b${status}\\s+with\\s+\`${error}\``), reason)
    else if (reason === 'credentials_missing') t.match(text, '\n| 401, with an **empty body** |', reason)
    else t.match(text, `\n| ${status} \`${error}\` | `, reason)
  }
})

t.test('the records are records, each with every field of its type', async (t) => {
  const [partner, client] = ['partner', 'client'].map((type) => JSON.parse(block(`record ${type}`)))
  for (const record of [partner, client]) {
    t.strictSame(readUserInformation(record, 'partner').faults, [], record.type)
    t.strictSame(unlistedFields(record), [], record.type)
  }
  t.strictSame(Object.keys(client), Object.keys(UserInformation.anyOf[1].properties))
  t.strictSame(Object.keys(partner), UserInformation.anyOf[0].required)
})

t.test('each command', async (t) => {
  const page = texts.get('lib/routes/README.md') as string
  const commands = [...page.matchAll(/^<!-- curl (\w+) -->$/gm)].map(([, name]) => name)
  t.strictSame(commands, ['authorize', 'form', 'basic', 'user'])
  for (const way of ['form', 'basic']) {
    const target = new URL(await run('authorize'))
    t.equal(target.searchParams.get('state'), 'xyz', way)
    const code = target.searchParams.get('code') as string
    const { token_type: type, access_token: value } = JSON.parse(await run(way, { CODE: code }))
    t.equal(type, 'Bearer', way)
    t.strictSame(JSON.parse(await run('user', { TOKEN: value })), RECORDS.ada, way)
    t.match(await run(way, { CODE: 'x', CLIENT_SECRET: 'wrong' }), '"error":"invalid_client"', way)
  }
})
