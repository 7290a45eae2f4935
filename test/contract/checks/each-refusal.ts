// Each refusal of the list, as it leaves the app and as the host sees it.
import type { Test } from 'tap'
import { refusals as source } from '../../../lib/errors.ts'
import type { PartnerSsoEvent, RefusalReason } from '../../../lib/index.ts'
import { PORTAL } from '../../app.ts'
import { CHALLENGE } from '../../wire.ts'
import type { Changes, WireResponse } from '../../wire.ts'
import { DESCRIPTION, HTML, isEmpty, isGuarded, isGuardedRedirect, isPage, isRefused } from '../replies.ts'
import { refusals } from '../refusals.ts'
import type { Refusal } from '../refusals.ts'
import type { Subject } from '../subject.ts'

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 }

/** Each refusal. A request that is refused before its authentication leaves the code good. */
export async function eachRefusal (t: Test, subject: Subject): Promise<void> {
  for (const [reason, refusal] of Object.entries(refusals) as Array<[RefusalReason, Refusal]>) {
    const at = refusal.options === undefined ? subject : await subject.another({ options: refusal.options })
    await t.test(reason, async (t) => await refuses(t, at, reason, refusal))
    if (refusal.at === 'page') await t.test(`${reason}: page`, async (t) => await isShown(t, at, reason, refusal))
  }
}

async function refuses (t: Test, subject: Subject, reason: RefusalReason, refusal: Refusal): Promise<void> {
  const { at } = subject
  let code = ''
  subject.events()
  subject.lines()
  subject.failures()
  const response = await refusal.provoke({
    ...at,
    async code (...given) {
      code = await at.code(...given)
      return code
    }
  })
  isResponse(t, response, reason, refusal)
  const event = subject.events().at(-1) as PartnerSsoEvent
  isEvent(t, event, reason, refusal)
  isLine(t, subject, event, refusal)
  isFailure(t, subject, reason)
  if (refusal.sparesCode) t.equal((await at.token({ code })).status, 200, 'the code is still good')
}

/** What a page must not repeat. */
const MARKED = { 'user-agent': 'zzz-agent', referer: 'https://zzz.example/', cookie: 'a=zzz', 'accept-language': 'zzz' }

/** A page with the description and, to start again, the loginUrl of the known portal or of the only registered one. */
async function isShown (t: Test, subject: Subject, reason: RefusalReason, refusal: Refusal): Promise<void> {
  const { at, isOnlyPortal } = subject
  const { provoke, status, known, options } = refusal
  const page = await provoke({
    ...at,
    authorize: async (changes, user, _headers, more) =>
      await at.authorize({ state: 'zzz', ...changes }, user, { ...HTML, ...MARKED }, more)
  })
  isPage(t, page, status)
  t.equal(page.headers.has('retry-after'), status === 503)
  t.match(page.text, source[reason].description)
  const isFound = known.includes('clientId') || (isOnlyPortal && options?.portal === undefined)
  t.strictSame(page.text.match(/href="[^"]*"/g), isFound ? [`href="${PORTAL.loginUrl}"`] : null)
}

/** The `onError` hooks of the host get what has failed, with its cause, and nothing that a caller has caused. */
function isFailure (t: Test, subject: Subject, reason: RefusalReason): void {
  const { status } = source[reason]
  const expected = status >= 500 ? [{ statusCode: status, cause: subject.cause() }] : []
  const found = subject.failures() as Array<Error & { statusCode?: number }>
  t.strictSame(found.map(({ statusCode, cause }) => ({ statusCode, cause })), expected, reason)
}

/** The response of a refusal. */
export function isResponse (
  t: Test, response: WireResponse, reason: RefusalReason, { at, status, error }: Refusal
): void {
  const { description } = source[reason]
  t.match(description, DESCRIPTION, reason)
  const remembered = response.headers.getSetCookie().filter((cookie) => cookie.includes('partner-sso-return='))
  t.strictSame(remembered, [], `${reason}: no way back from a login is remembered`)
  if (at === 'redirect') {
    const expected = new RegExp(`^error=${error}&error_description=[^&+]+(?:&state=a\\+state)?$`)
    const location = (response.headers.get('location') ?? '').split('?')
    t.match([...location, response.redirect.get('error_description')], [PORTAL.redirectUri, expected, description],
      reason)
    return isGuardedRedirect(t, response)
  }
  t.equal(response.headers.get('location'), null, reason)
  if (at === 'page') isGuarded(t, response)
  // RFC 6750 section 3.1: no error where no credentials were sent.
  if (reason === 'credentials_missing') isEmpty(t, response, status)
  else isRefused(t, response, status, error, description)
}

function isEvent (t: Test, event: PartnerSsoEvent, reason: RefusalReason, { event: type, known }: Refusal): void {
  const values = {
    clientId: PORTAL.clientId,
    externalId: 'u-1',
    expected: PORTAL.redirectUri,
    signInId: String,
    difference: String,
    rule: String
  }
  t.strictSame(Object.keys(event).sort(), [...known, 'reason', 'requestId', 'type'].sort())
  t.match(event, { type, reason, requestId: String })
  for (const name of known) t.match(event, { [name]: values[name] }, name)
}

/** One line, with the members of the event; none below the lowest level that is logged. */
function isLine (
  t: Test, { lines, cause, lowestLevel }: Subject, { type, requestId, ...members }: PartnerSsoEvent, refusal: Refusal
): void {
  const { reason } = members
  const found = lines().filter((line) => line.reqId !== undefined && line.reason === reason)
  const expected = LEVELS[refusal.level]
  t.equal(found.length, expected < lowestLevel ? 0 : 1)
  if (expected < lowestLevel) return
  const { level, msg, reqId, event, hint, err, ...line } = found[0] as Record<string, unknown>
  const message = type === reason ? `partner-sso: ${type}` : `partner-sso: ${type} (${reason})`
  const known = source[reason as RefusalReason].hint
  t.strictSame([level, msg, reqId, event, hint], [expected, message, requestId, type, known])
  t.match(line, members)
  for (const [where, thrown] of [['onEvent', cause()], ['the log', err]] as const) {
    const text = (thrown as Error | undefined)?.message ?? thrown
    t[refusal.cause instanceof RegExp ? 'match' : 'equal'](text, refusal.cause, `the cause in ${where}`)
  }
}

/** What may be wrong with one request, in the order of the checks. */
const faults: Record<'authorize' | 'token', Array<[reason: RefusalReason, changes: Changes]>> = {
  authorize: [
    ['client_id_unknown', { client_id: 'someone' }],
    ['redirect_uri_unregistered', { redirect_uri: 'https://elsewhere.example/' }],
    ['response_type_unsupported', { response_type: 'token' }],
    ['state_missing', { state: undefined }],
    ['code_challenge_malformed', { code_challenge: 'short' }],
    ['code_challenge_method_unsupported', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }]
  ],
  token: [
    ['grant_type_missing', { grant_type: undefined }],
    ['grant_type_unsupported', { grant_type: 'refresh_token' }],
    ['redirect_uri_missing', { redirect_uri: undefined }],
    ['code_missing', { code: undefined }],
    ['authentication_missing', { client_id: undefined, client_secret: undefined }],
    ['client_secret_wrong', { client_secret: 'wrong' }],
    ['redirect_uri_mismatch', { redirect_uri: 'https://elsewhere.example/' }],
    ['code_malformed', { code: 'malformed' }]
  ]
}

/** Of several faults in a request the first is reported. */
export async function order (t: Test, { at, events }: Subject): Promise<void> {
  for (const endpoint of ['authorize', 'token'] as const) {
    let all: Changes = { code: 'x' }
    for (const [reason, changes] of [...faults[endpoint]].reverse()) {
      all = { ...all, ...changes }
      await at[endpoint](all)
      t.equal(events().at(-1)?.reason, reason, reason)
    }
  }
}
