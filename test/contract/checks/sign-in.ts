// A sign-in from end to end.
import type { Test } from 'tap'
import type { Wire } from '../../helpers/wire.ts'
import { clock } from '../../helpers/shifted-clocks.ts'
import { isGuardedRedirect, isJson, isRefused, refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

const TOKEN_UNKNOWN = 'The access token is unknown, used or expired.'
const CODE_UNKNOWN = 'The code is unknown, used or expired.'

/** A sign-in of alice, each response to the letter. Returns the code and the token that were used. */
export async function completes (
  t: Test, { at, portal, recordOf }: Pick<Subject, 'at' | 'recordOf'> & { portal: { redirectUri: string } }
): Promise<{ code: string, token: string }> {
  const authorized = await at.authorize({ state: undefined }, 'alice', {}, '&state=a%2bb%20c%2F%c3%a9+')
  const [location = '', state] = authorized.headers.get('location')?.split('&state=') ?? []
  const [uri, code = ''] = location.split('?code=')
  t.equal(uri, portal.redirectUri)
  t.match(code, /^[\w-]{43,}$/, '256 bits at least')
  t.equal(state, 'a%2bb%20c%2F%c3%a9+', 'the state comes back as it was sent')
  t.equal(authorized.text, '')
  isGuardedRedirect(t, authorized)

  const issued = await at.token({ code })
  isJson(t, issued, 200)
  const token = issued.json.access_token as string
  t.equal(issued.text, `{"token_type":"Bearer","access_token":"${token}"}`)

  const record = await at.user(token)
  isJson(t, record, 200)
  t.strictSame(record.json, recordOf('alice'))
  return { code, token }
}

/** A sign-in, its events and log lines; both values work once. */
export async function signIn (t: Test, subject: Subject): Promise<void> {
  const { at, portal, store } = subject
  subject.events()
  subject.lines()
  store.operations()
  const { code, token } = await completes(t, subject)
  const operations = store.operations()
  if (operations.length > 0) t.strictSame(operations, ['put', 'take', 'put', 'take'], 'four store commands')

  isRefused(t, await at.user(token), 401, 'invalid_token', TOKEN_UNKNOWN)
  isRefused(t, await at.token({ code }), 400, 'invalid_grant', CODE_UNKNOWN)

  const { clientId } = portal
  const events = subject.events()
  const { signInId } = events[0] ?? {}
  t.type(signInId, 'string')
  const known = { clientId, externalId: 'alice', signInId }
  t.strictSame(events.map(({ requestId, ...event }) => event), [
    { type: 'code_issued', reason: 'ok', ...known },
    { type: 'token_issued', reason: 'ok', ...known, secretIndex: subject.secretIndex },
    { type: 'user_information_returned', reason: 'ok', ...known },
    { type: 'request_rejected', reason: 'token_unknown', clientId, signInId },
    // Its token was used, not alive: an ordinary repetition is not reported as an attack.
    { type: 'request_rejected', reason: 'code_unknown', clientId, signInId }
  ])
  const lines = subject.lines().filter(({ event }) => event !== undefined)
  const logged = events
    .map(({ type: event, requestId: reqId, ...rest }) =>
      ({ event, reqId, ...rest, level: rest.reason === 'ok' ? 30 : 40 }))
    .filter(({ level }) => level >= subject.lowestLevel)
  t.match(lines, logged)
  t.equal(lines.length, logged.length)
}

/** Sign-ins at the same time do not mix: the portal gets the record of each user, each portal that of its own. */
export async function signInsAtOnce (t: Test, { at, atOther, recordOf }: Subject): Promise<void> {
  const complete = async (portal: Wire, user: string): Promise<void> => {
    const token = await portal.accessToken(user)
    t.strictSame((await portal.user(token)).json, recordOf(user))
  }
  const users = ['alice', 'bob', 'carol']
  await clock.still(() =>
    Promise.all([at, atOther ?? at].flatMap((portal) => users.map((user) => complete(portal, user)))))
}

/** The record is the one that was checked when the code was issued, its listed fields, and every character of it. */
export async function recordOfTheCode (t: Test, { at, behaviour, recordOf }: Subject): Promise<void> {
  const name = 'zoë "漢字" \u{1f600} \n \u2028 \\ </script>'
  behaviour.portalEligibility = () => ({ ...recordOf('a\nb'), name, unlisted: 1 })
  const code = await at.code()
  behaviour.portalEligibility = () => recordOf('later')
  const { access_token: token } = (await at.token({ code })).json
  t.strictSame((await at.user(token)).json, { ...recordOf('a\nb'), name })
}

/** Refused, and nothing is used up by it: a code at the user endpoint, a token at the token endpoint, parts of them. */
export async function crossUse (t: Test, { at, recordOf }: Subject): Promise<void> {
  const code = await at.code()
  for (const value of [code, code.padEnd(101, 'A')]) refuses(t, await at.user(value), 401, 'invalid_token')
  const issued = await at.token({ code })
  t.equal(issued.status, 200)
  const token = issued.json.access_token as string
  for (const value of [token, token.slice(0, 44)]) refuses(t, await at.token({ code: value }), 400, 'invalid_grant')
  t.equal((await at.send(`/oauth/user?access_token=${token}`)).status, 401, 'nothing is read from the query')
  const response = await at.user(undefined, { authorization: `bEaReR ${token}` })
  t.strictSame(response.json, recordOf('alice'), 'the scheme in any case')
}

/** Codes and tokens are good for their lifetimes, and no longer. */
export async function lifetimes (t: Test, { at, store }: Subject): Promise<void> {
  const code = await at.code()
  await store.pass(400)
  const inTime = await at.code()
  await store.pass(201)
  refuses(t, await at.token({ code }), 400, 'invalid_grant', 'expired')
  const { access_token: token } = (await at.token({ code: inTime })).json
  await store.pass(2000)
  const { access_token: later } = (await at.token({ code: await at.code() })).json
  await store.pass(1001)
  refuses(t, await at.user(token), 401, 'invalid_token', 'expired')
  t.equal((await at.user(later)).status, 200)
}

/** A HEAD that ran a GET handler would issue a code, or use up a token. Nor is there any other method. */
export async function noOtherMethod (
  t: Test,
  { at }: Pick<Subject, 'at'>,
  methods = ['HEAD', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']
): Promise<void> {
  const token = await at.accessToken()
  const headers = { 'x-user': 'alice', authorization: `Bearer ${token}` }
  for (const [path, own] of [['/oauth/authorize', 'GET'], ['/oauth/token', 'POST'], ['/oauth/user', 'GET']] as const) {
    const others = methods.filter((method) => method !== own)
    const responses = await Promise.all(others.map((method) => at.send(path, { method, headers })))
    const expected = others.map((method) => `${path} ${method}` === '/oauth/token GET' ? 405 : 404)
    t.strictSame(responses.map((response) => response.status), expected, path)
  }
  t.equal((await at.user(token)).status, 200, 'the token is still good')
}
