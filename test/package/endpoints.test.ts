// The page for the developers of a portal: each row of its table and each of its commands, by curl, against a server.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import type { Store } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { prepared } from '../helpers/prepared.ts'
import { CHALLENGE, VERIFIER } from '../helpers/wire.ts'
import { block, texts } from './documents.ts'

const memory = new MemoryStore(1000)
let isDown = false
const whileUp = async <T>(operation: () => Promise<T>): Promise<T> => {
  if (isDown) throw new Error('The store is down')
  return await operation()
}
const store: Store = {
  put: async (...given) => await whileUp(async () => await memory.put(...given)),
  take: async (key) => await whileUp(async () => await memory.take(key)),
  revoke: async (...given) => await whileUp(async () => await memory.revoke(...given))
}

const registered = { ...PORTAL, clientSecret: 's3cr+t /%:=&~"<> of the portal' }
const { url } = await prepared(() => startHost(t, {
  portal: registered,
  store,
  currentUser ({ headers: { cookie = '' } }) {
    const [, id = ''] = /session=(.*)/.exec(cookie) ?? []
    return { id, eligible: id === 'alice' }
  }
}))

const variables = {
  APP: url,
  COOKIE: 'session=alice',
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

interface Response { status: number, headers: Headers, body: string }

/** What curl gets: a path and its arguments. */
async function curl (path: string, ...args: string[]): Promise<Response> {
  const { stdout } = await promised('curl', ['-si', url + path, ...args])
  const [head = '', body = ''] = stdout.split(/\r\n\r\n(.*)/s)
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => line.split(/: (.*)/).slice(0, 2) as [string, string])
  return { status: Number(first.split(' ')[1]), headers: new Headers(headers), body }
}

const encoded = (given: object) =>
  Object.entries(given).flatMap(([name, value]) => ['--data-urlencode', `${name}=${String(value)}`])

const asked = {
  client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 'a state'
}
const authorize = async (changes: object = {}, user = 'alice', ...args: string[]) =>
  await curl('/oauth/authorize', '-G', '-b', `session=${user}`, ...encoded({ ...asked, ...changes }), ...args)

const codeOf = ({ headers }: Pick<Response, 'headers'>) =>
  new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
const tokenOf = ({ body }: Response) => String((JSON.parse(body) as { access_token: string }).access_token)
let lastCode = ''
async function newCode (changes = {}): Promise<string> {
  lastCode = codeOf(await authorize(changes))
  return lastCode
}

const { clientId: client_id, clientSecret: client_secret, redirectUri: redirect_uri } = registered
const grant = { grant_type: 'authorization_code', redirect_uri }
const form = { ...grant, client_id, client_secret }
const token = async (changes: object = {}, ...args: string[]) =>
  await curl('/oauth/token', ...encoded({ ...form, code: await newCode(), ...changes }), ...args)
const byBasic = async (user: string) =>
  await curl('/oauth/token', '-u', user, ...encoded({ ...grant, code: await newCode() }))
const newToken = async () => tokenOf(await token())
const user = async (value: string) => await curl('/oauth/user', '-H', `Authorization: Bearer ${value}`)

const CHALLENGED = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }

async function usedCode (): Promise<string> {
  const code = await newCode()
  await token({ code })
  return code
}

async function usedToken (): Promise<string> {
  const value = await newToken()
  await user(value)
  return value
}

/** The request, prepared while the store is up, and sent while it is down. */
async function whileDown<T> (prepare: () => Promise<T>, send: (given: T) => Promise<Response>): Promise<Response> {
  const given = await prepare()
  isDown = true
  return await send(given).finally(() => { isDown = false })
}

/** By endpoint and what it gets: the requests, each of which the response of the row is for. */
const requests: Record<string, Array<() => Promise<Response>>> = {
  'authorize: `client_id`, `redirect_uri`, `response_type=code` and `state` in the query': [() => authorize()],
  'authorize: and `code_challenge` with `code_challenge_method=S256` (PKCE, optional)': [() => authorize(CHALLENGED)],
  'authorize: another client_id, or not exactly the registered redirect_uri': [
    () => authorize({ client_id: 'x' }), () => authorize({ redirect_uri: `${redirect_uri}/` })
  ],
  'authorize: no `state`, or a parameter twice': [
    () => authorize({ state: '' }), () => authorize({}, 'alice', '-d', 'response_type=code')
  ],
  'authorize: a user who may not enter': [() => authorize({}, 'bob')],
  'authorize: while the app\'s store is down': [() => whileDown(async () => {}, async () => await authorize())],
  'token: a form: `grant_type=authorization_code`, `code`, `redirect_uri`, `client_id`, `client_secret`': [
    () => token(),
    async () => await token({ code: await newCode(CHALLENGED), code_verifier: VERIFIER })
  ],
  'token: HTTP Basic instead of the last two, form-encoded (RFC 6749 section 2.3.1) or as they are': [
    () => byBasic(`${client_id}:${encodeURIComponent(client_secret)}`), () => byBasic(`${client_id}:${client_secret}`)
  ],
  'token: JSON, a parameter missing or twice, Basic and `client_secret` at once, `client_secret` in the URL': [
    () => curl('/oauth/token', '--json', JSON.stringify(form)),
    () => token({ code: '' }),
    () => token({}, '-d', 'grant_type=authorization_code'),
    () => token({}, '-u', `${client_id}:${client_secret}`),
    () => curl('/oauth/token?client_secret=x', ...encoded({ ...form, code: 'x' }))
  ],
  'token: another `grant_type`': [() => token({ grant_type: 'refresh_token' })],
  'token: wrong credentials, or none': [
    () => token({ client_secret: 'wrong' }), () => token({ client_id: 'wrong' }), () => byBasic(`${client_id}:wrong`),
    async () => await curl('/oauth/token', ...encoded({ ...grant, code: await newCode() }))
  ],
  'token: another redirect_uri': [() => token({ redirect_uri: `${redirect_uri}/` })],
  'token: a code that is unknown, used or expired, or a wrong `code_verifier`': [
    () => token({ code: 'x' }),
    async () => await token({ code: await usedCode() }),
    async () => await token({ code: await newCode(CHALLENGED), code_verifier: VERIFIER.replace('d', 'e') }),
    async () => await token({ code: await newCode(CHALLENGED) })
  ],
  'token: GET': [() => curl('/oauth/token')],
  'token: while the app\'s store is down': [() => whileDown(newCode, async (code) => await token({ code }))],
  'user: `Authorization: Bearer` and the token': [async () => await user(await newToken())],
  'user: no token': [() => curl('/oauth/user')],
  'user: a token that is unknown, used or expired': [() => user('x'), async () => await user(await usedToken())],
  'user: while the app\'s store is down': [() => whileDown(newToken, user)]
}

const page = texts.get('lib/routes/README.md') as string
const rows = [...page.matchAll(/^\| (?:`\w+ \/oauth\/(\w+)` )?\| (.+) \| (\d.+) \|$/gm)]
let endpoint: string | undefined
const said = new Map(rows.map(([, named = endpoint, gets = '', returns = '']) => {
  endpoint = named
  return [`${String(named)}: ${gets}`, returns]
}))

/** Whether the response is what the cell of the table says, in its words and in each of its terms. */
async function isAsSaid (t: Test, cell: string, { status, headers, body }: Response): Promise<void> {
  const terms = [...cell.matchAll(/`([^`]+)`/g)].map(([, term = '']) => term)
  const location = headers.get('location') ?? ''
  t.equal(status, Number(cell.slice(0, 3)), cell)
  t.equal(location.split('?')[0], cell.includes('302 to the redirect_uri') ? redirect_uri : '', cell)
  if (cell.includes('the record')) t.strictSame(JSON.parse(body), recordOf('alice'))
  if (cell.includes('can still be used')) t.equal((await token({ code: lastCode })).status, 200)
  const sent = new URLSearchParams(location.split('?')[1])
  for (const term of terms) {
    if (term === 'code_verifier') t.equal((await token({ code: codeOf({ headers }) })).status, 400, term)
    else if (status === 302) isSent(t, term, sent)
    else if (term.startsWith('{')) t.match(body, toExpression(term), term)
    else if (term.includes(': ')) t.equal(headers.get(term.split(': ')[0] as string), term.split(': ')[1], term)
    else t.match(JSON.parse(body), { error: term, error_description: /^.{5,}$/ }, term)
  }
}

function isSent (t: Test, term: string, sent: URLSearchParams): void {
  const [name = '', value] = term.split('=')
  if (name === 'code') t.match(sent.get('code'), SECRET, term)
  else t.equal(sent.get(name), value ?? asked.state, term)
}

const SECRET = /^[\w-]{43,}$/

const toExpression = (term: string) => new RegExp(`^\\${term.replace('…', '[\\w.-]{43,}')}$`)

t.test('each row of the table', async (t) => {
  t.strictSame([...said.keys()], Object.keys(requests))
  for (const [name, send] of Object.entries(requests)) {
    await t.test(name, async (t) => {
      for (const one of send) await isAsSaid(t, said.get(name) as string, await one())
    })
  }
})

t.test('each command', async (t) => {
  const commands = [...page.matchAll(/^<!-- curl (\w+) -->$/gm)].map(([, name]) => name)
  t.strictSame(commands, ['authorize', 'form', 'basic', 'user'])
  for (const way of ['form', 'basic']) {
    const target = new URL(await run('authorize'))
    t.equal(target.searchParams.get('state'), 'xyz', way)
    const { token_type: type, access_token: value } = JSON.parse(
      await run(way, { CODE: target.searchParams.get('code') as string })
    )
    t.equal(type, 'Bearer', way)
    t.strictSame(JSON.parse(await run('user', { TOKEN: value })), recordOf('alice'), way)
    t.match(await run(way, { CODE: 'x', CLIENT_SECRET: 'wrong' }), '"error":"invalid_client"', way)
  }
})
