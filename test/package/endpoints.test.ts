// The commands of the page for the developers of a portal, by curl, against a server.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { PORTAL, RECORDS, sessionOf, startApp } from '../app.ts'
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
