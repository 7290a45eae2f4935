// `portal` as a function. It is called for each request.
import type { Test } from 'tap'
import type { Portal } from '../../../lib/index.ts'
import { isGuarded, isRefused, refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

/** What the function does instead of finding the portal, and the response of each endpoint. */
interface Row {
  find (portal: Portal): unknown
  status: 400 | 500 | 503
  error: string
  description: string
  reason: string
  /** Part of the log line. */
  logged?: string
}

const unknown = {
  status: 400, error: 'invalid_request', description: 'The client_id is not registered.', reason: 'client_id_unknown'
} as const
const failed = {
  status: 500, error: 'server_error', description: 'The request could not be completed.', reason: 'portal_failed'
} as const

const rows: Record<string, Row> = {
  null: { find: () => null, ...unknown },
  'another portal': { find: (portal) => ({ ...portal, clientId: portal.clientId.toUpperCase() }), ...unknown },
  throws: { find: () => { throw new Error('The vault is sealed') }, ...failed, logged: 'The vault is sealed' },
  rejects: { find: async () => { throw new Error('The vault is sealed') }, ...failed, logged: 'The vault is sealed' },
  'a bad secret': {
    find: (portal) => ({ ...portal, clientSecret: 'hush\n' }), ...failed, logged: 'that has a line break'
  },
  silent: {
    find: async () => await new Promise(() => {}),
    status: 503,
    error: 'temporarily_unavailable',
    description: 'The service is temporarily unavailable.',
    reason: 'portal_timeout',
    logged: 'did not return within `storeTimeout`'
  }
}

/** Whatever the function returns, the code is not touched, and no secret reaches the log. */
export async function portalFunction (t: Test, subject: Subject): Promise<void> {
  for (const [name, row] of Object.entries(rows)) await t.test(name, async (t) => await isRow(t, subject, name, row))
}

async function isRow (
  t: Test, subject: Subject, name: string, { find, status, error, description, reason, logged }: Row
): Promise<void> {
  const [code, token] = [await subject.at.code(), await subject.at.accessToken()]
  const storeTimeout = reason === 'portal_timeout' ? 20 : 10_000
  // Without the host's own hooks, which may take long: storeTimeout is short.
  let found = (): unknown => subject.portal
  const options = { portal: () => found() as Portal, storeTimeout }
  const { at, events, lines, lowestLevel } = await subject.another({ options })
  t.equal((await at.authorize({ redirect_uri: 'https://portal.example/new' })).status, 400, 'it was found before')
  t.match(events(), [{ reason: 'redirect_uri_unregistered' }])
  lines()
  found = () => find(subject.portal)
  const authorized = await at.authorize()
  isRefused(t, authorized, status, error, description)
  isGuarded(t, authorized)
  t.match(events(), [{ type: 'request_rejected', reason }])
  const isUnknown = status === 400
  const issued = await at.token({ code })
  if (isUnknown) isRefused(t, issued, 401, 'invalid_client', 'Client authentication failed.')
  else isRefused(t, issued, status, error, description)
  refuses(t, await at.user(token), isUnknown ? 401 : status, isUnknown ? 'invalid_token' : error)
  const written = lines()
  const warnings = written.filter(({ level, reason }) => level === 40 && reason === undefined)
  t.equal(warnings.length, name === 'another portal' && lowestLevel <= 40 ? 1 : 0, 'one warning')
  t.strictSame(written.filter(({ clientId }) => clientId !== undefined), [], 'no client_id that nobody registered')
  const text = JSON.stringify(written)
  t.notMatch(text, 'hush')
  if (logged !== undefined && lowestLevel <= 50) t.match(text, logged)
  t.equal((await subject.at.token({ code })).status, 200, 'the code was not touched')
}

/** The function is asked for 1 to 255 visible ASCII characters. */
export async function hostileClientIds (t: Test, subject: Subject): Promise<void> {
  const asked: string[] = []
  const portal = (clientId: string): undefined => { asked.push(clientId) }
  const { at } = await subject.another({ options: { portal } })
  const unprintable = ['é', 'a\nb', 'a\0b', '\x7f']
  for (const hostile of ['a'.repeat(256), '', ...unprintable]) {
    t.equal((await at.authorize({ client_id: hostile })).status, 400, hostile)
    t.ok([400, 401].includes((await at.token({ code: 'x', client_id: hostile })).status), hostile)
    const credentials = Buffer.from(`${encodeURIComponent(hostile)}:secret`).toString('base64')
    const header = { authorization: `Basic ${credentials}` }
    const response = await at.token({ code: 'x', client_id: undefined, client_secret: undefined }, header)
    isRefused(t, response, 401, 'invalid_client', 'Client authentication failed.')
  }
  // HTTP Basic as it was sent: the escapes themselves are visible ASCII.
  const escaped = unprintable.map(encodeURIComponent)
  t.strictSame(asked.filter((clientId) => !escaped.includes(clientId)), [])
  asked.length = 0
  for (const odd of ['a'.repeat(255), ' ', '~']) await at.authorize({ client_id: odd })
  t.strictSame(asked, ['a'.repeat(255), ' ', '~'])
}
