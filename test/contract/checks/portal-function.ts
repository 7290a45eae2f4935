// `portal` as a function. It is called for each request.
import type { Test } from 'tap'
import type { Portal } from '../../../lib/index.ts'
import { basic } from '../../wire.ts'
import { isRefused, refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

/** What the function does instead of finding the portal, and the refusal of a token request. */
interface Row {
  find (portal: Portal): unknown
  reason: 'client_id_unknown' | 'portal_failed' | 'portal_timeout'
  status: number
  error: string
  /** Part of the log. */
  logged?: string
}

const failed = { reason: 'portal_failed', status: 500, error: 'server_error' } as const

const rows: Record<string, Row> = {
  'another portal': {
    find: (portal) => ({ ...portal, clientId: portal.clientId.toUpperCase() }),
    reason: 'client_id_unknown',
    status: 401,
    error: 'invalid_client'
  },
  rejects: {
    find: async () => { throw new Error('The vault is sealed') },
    ...failed,
    logged: 'The vault is sealed'
  },
  'a bad secret': {
    find: (portal) => ({ ...portal, clientSecret: 'hush\n' }),
    ...failed,
    logged: 'that has a line break'
  },
  silent: {
    find: () => new Promise(() => {}),
    reason: 'portal_timeout',
    status: 503,
    error: 'temporarily_unavailable',
    logged: 'did not return within `storeTimeout`'
  }
}

/** Whatever the function returns, code and token are not touched, and no secret reaches the log. */
export async function portalFunction (t: Test, subject: Subject): Promise<void> {
  for (const [name, row] of Object.entries(rows)) await t.test(name, async (t) => await isRow(t, subject, row))
}

async function isRow (t: Test, subject: Subject, { find, reason, status, error, logged }: Row): Promise<void> {
  const [code, token] = [await subject.at.code(), await subject.at.accessToken()]
  let found = (): unknown => subject.portal
  const options = { portal: () => found() as Portal, storeTimeout: reason === 'portal_timeout' ? 20 : 10_000 }
  const { at, events, lines, lowestLevel } = await subject.another({ options })
  await at.authorize({ redirect_uri: 'https://portal.example/new' })
  t.match(events(), [{ reason: 'redirect_uri_unregistered' }], 'it was found before')
  lines()
  found = () => find(subject.portal)
  const isUnknown = status === 401
  refuses(t, await at.authorize(), isUnknown ? 400 : status, isUnknown ? 'invalid_request' : error)
  t.match(events(), [{ type: 'request_rejected', reason }])
  refuses(t, await at.token({ code }), status, error)
  refuses(t, await at.user(token), status, isUnknown ? 'invalid_token' : error)
  const written = lines()
  const warnings = written.filter(({ level, reason }) => level === 40 && reason === undefined)
  t.equal(warnings.length, isUnknown && lowestLevel <= 40 ? 1 : 0, 'one warning')
  t.strictSame(written.filter(({ clientId }) => clientId !== undefined), [], 'no client_id that nobody registered')
  const text = JSON.stringify(written)
  t.notMatch(text, 'hush')
  if (logged !== undefined && lowestLevel <= 50) t.match(text, logged)
  t.equal((await subject.at.token({ code })).status, 200, 'the code was not touched')
  t.equal((await subject.at.user(token)).status, 200, 'the token was not touched')
}

/** The function is asked for 1 to 255 visible ASCII characters. */
export async function hostileClientIds (t: Test, subject: Subject): Promise<void> {
  const asked: string[] = []
  const portal = (clientId: string): undefined => { asked.push(clientId) }
  const { at } = await subject.another({ options: { portal } })
  for (const hostile of ['a'.repeat(256), '', 'é', 'a\nb', '\x7f']) {
    t.equal((await at.authorize({ client_id: hostile })).status, 400, hostile)
    const header = basic(hostile, 'secret')
    const response = await at.token({ code: 'x', client_id: undefined, client_secret: undefined }, header)
    isRefused(t, response, 401, 'invalid_client', 'Client authentication failed.')
  }
  t.strictSame(asked, ['%C3%A9', 'a%0Ab', '%7F'], 'HTTP Basic as it was sent is visible ASCII')
  asked.length = 0
  for (const odd of ['a'.repeat(255), ' ', '~']) await at.authorize({ client_id: odd })
  t.strictSame(asked, ['a'.repeat(255), ' ', '~'])
}
