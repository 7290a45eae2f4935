// A sign-in from end to end.
import type { Test } from 'tap'
import { PORTAL, sessionOf } from '../../app.ts'
import { isGuardedRedirect, isJson, isRefused, refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

const TOKEN_UNKNOWN = 'The access token is unknown, used or expired.'
const CODE_UNKNOWN = 'The code is unknown, used or expired.'

/** A sign-in of ada, each response to the letter. Returns the code and the token that were used. */
export async function completes (
  t: Test, { at, recordOf }: Pick<Subject, 'at' | 'recordOf'>
): Promise<{ code: string, token: string }> {
  const authorized = await at.authorize({ state: undefined }, 'ada', {}, '&state=a%2bb%20c%2F%c3%a9+')
  const [location = '', state] = authorized.headers.get('location')?.split('&state=') ?? []
  const [uri, code = ''] = location.split('?code=')
  t.equal(uri, PORTAL.redirectUri)
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
  t.strictSame(record.json, recordOf('ada'))
  return { code, token }
}

/** A sign-in, its events, which have one id, and its log lines; both values work once. */
export async function signIn (t: Test, subject: Subject): Promise<void> {
  const { at } = subject
  const { clientId } = PORTAL
  subject.events()
  subject.lines()
  const { code, token } = await completes(t, subject)
  isRefused(t, await at.user(token), 401, 'invalid_token', TOKEN_UNKNOWN)
  isRefused(t, await at.token({ code }), 400, 'invalid_grant', CODE_UNKNOWN)

  const events = subject.events()
  const [{ signInId = '' } = {}] = events
  t.match(signInId, /^[\w-]{20}$/)
  t.notOk(`${code} ${token}`.includes(signInId), 'it is not a part of the code or token')
  const known = { clientId, externalId: 'u-1', signInId }
  t.strictSame(events.map(({ requestId, ...event }) => event), [
    { type: 'code_issued', reason: 'ok', ...known },
    { type: 'token_issued', reason: 'ok', ...known, secretIndex: subject.secretIndex },
    { type: 'user_information_returned', reason: 'ok', ...known },
    { type: 'request_rejected', reason: 'token_unknown', clientId, signInId },
    // Its token was used, not alive: an ordinary repetition is not reported as an attack.
    { type: 'request_rejected', reason: 'code_unknown', clientId, signInId }
  ])
  const lines = subject.lines().filter(({ event }) => event !== undefined)
  const logged = events.map(({ type: event, requestId: reqId, ...rest }) => {
    return { event, reqId, ...rest, level: rest.reason === 'ok' ? 30 : 40 }
  })
  const expected = subject.lowestLevel > 40 ? [] : logged
  t.match(lines, expected)
  t.equal(lines.length, expected.length)
}

/** The record is the one that was checked when the code was issued, its listed fields, and every character of it. */
export async function recordOfTheCode (t: Test, { at, behaviour, recordOf }: Subject): Promise<void> {
  const name = 'zoë "漢字" \u{1f600} \n \u2028 \\ </script>'
  const changed = { ...recordOf('ada'), external_id: 'a\nb', name }
  behaviour.portalEligibility = () => ({ ...changed, unlisted: 1 })
  const code = await at.code()
  behaviour.portalEligibility = () => recordOf('bob')
  const { access_token: token } = (await at.token({ code })).json
  t.strictSame((await at.user(token)).json, changed)
}

/** Refused, and nothing is used up by it: a code at the user endpoint, a token at the token endpoint, in the query. */
export async function crossUse (t: Test, { at, recordOf }: Subject): Promise<void> {
  const code = await at.code()
  refuses(t, await at.user(code), 401, 'invalid_token')
  const issued = await at.token({ code })
  t.equal(issued.status, 200)
  const token = issued.json.access_token as string
  refuses(t, await at.token({ code: token }), 400, 'invalid_grant')
  t.equal((await at.send(`/oauth/user?access_token=${token}`)).status, 401, 'nothing is read from the query')
  t.strictSame((await at.user(token)).json, recordOf('ada'))
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
  const later = await at.accessToken()
  await store.pass(1001)
  refuses(t, await at.user(token), 401, 'invalid_token', 'expired')
  t.equal((await at.user(later)).status, 200)
}

/** A HEAD that ran a GET handler would issue a code, or use up a token. All routes: unit/index. */
export async function noHead (t: Test, { at }: Pick<Subject, 'at'>): Promise<void> {
  const token = await at.accessToken()
  const headers = { cookie: sessionOf('ada'), authorization: `Bearer ${token}` }
  for (const path of ['/oauth/authorize', '/oauth/token', '/oauth/user']) {
    t.equal((await at.send(path, { method: 'HEAD', headers })).status, 404, path)
  }
  t.equal((await at.user(token)).status, 200, 'the token is still good')
}
