// Each refusal of the list, as it leaves the app and as the host sees it.
import type { Test } from 'tap'
import { refusals as source } from '../../../lib/errors.ts'
import type { PartnerSsoEvent, RefusalReason } from '../../../lib/index.ts'
import { CHALLENGE } from '../../helpers/wire.ts'
import type { Changes, WireResponse, Wire } from '../../helpers/wire.ts'
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
  const codes: string[] = []
  subject.events()
  subject.lines()
  const response = await refusal.provoke(noting(subject.at, codes))
  isResponse(t, response, refusal, subject, reason)
  const event = subject.events().at(-1) as PartnerSsoEvent
  isEvent(t, event, reason, refusal, subject)
  isLine(t, subject, event, refusal)
  if (refusal.sparesCode !== true) return
  t.equal((await subject.at.token({ code: codes.at(-1) })).status, 200, 'the code is still good')
}

/** What a page must not repeat. */
const MARKED = { 'user-agent': 'zzz-agent', referer: 'https://zzz.example/', cookie: 'a=zzz', 'accept-language': 'zzz' }

/** A page with the description and, to start again, the loginUrl of the known portal or of the only registered one. */
async function isShown (t: Test, subject: Subject, reason: RefusalReason, refusal: Refusal): Promise<void> {
  const { at, portal, isOnlyPortal } = subject
  const { provoke, status, known, options } = refusal
  const page = await provoke({
    ...at,
    authorize: async (changes, user, _headers, more) =>
      await at.authorize({ state: 'zzz', ...changes }, user, { ...HTML, ...MARKED }, more)
  })
  isPage(t, page, status)
  t.equal(page.headers.has('retry-after'), status === 503)
  t.match(page.text, source[reason].description)
  t.notMatch(page.text, portal.redirectUri)
  const isFound = known.includes('clientId') || (isOnlyPortal && options?.portal === undefined)
  t.strictSame(page.text.match(/href="[^"]*"/g), isFound ? [`href="${portal.loginUrl}"`] : null)
}

/** The portal's requests; the codes that it gets are noted. */
function noting (at: Wire, codes: string[]): Wire {
  return {
    ...at,
    async code (...given) {
      codes.push(await at.code(...given))
      return codes.at(-1) as string
    }
  }
}

/** The response of a refusal. */
export function isResponse (
  t: Test,
  response: WireResponse,
  { at, status, error }: Refusal,
  { portal }: { portal: { redirectUri: string } },
  reason: string
): void {
  const { description } = source[reason as RefusalReason]
  t.match(description, DESCRIPTION, reason)
  if (at === 'redirect') {
    const expected = new RegExp(`^error=${error}&error_description=[^&+]+(?:&state=a\\+state)?$`)
    const location = (response.headers.get('location') ?? '').split('?')
    t.match([...location, response.redirect.get('error_description')], [portal.redirectUri, expected, description],
      reason)
    return isGuardedRedirect(t, response)
  }
  t.equal(response.headers.get('location'), null, reason)
  if (at === 'page') isGuarded(t, response)
  // RFC 6750 section 3.1: no error where no credentials were sent.
  if (reason === 'credentials_missing') isEmpty(t, response, status)
  else isRefused(t, response, status, error, description)
}

function isEvent (
  t: Test, { requestId, ...event }: PartnerSsoEvent, reason: RefusalReason, refusal: Refusal, { portal }: Subject
): void {
  t.type(requestId, 'string')
  const { expected, difference, rule, signInId, ...rest } = event as Record<string, unknown>
  const known = {
    ...refusal.known.includes('clientId') ? { clientId: portal.clientId } : {},
    ...refusal.known.includes('externalId') ? { externalId: 'ada' } : {}
  }
  t.strictSame(rest, { type: refusal.event, reason, ...known })
  t.strictSame(
    [expected, difference !== undefined, rule !== undefined, typeof signInId === 'string'],
    [
      refusal.known.includes('expected') ? portal.redirectUri : undefined,
      refusal.known.includes('difference'),
      refusal.known.includes('rule'),
      refusal.known.includes('signInId')
    ]
  )
}

/** One line, with the members of the event; none below the lowest level that is logged. */
function isLine (
  t: Test, { lines, cause, lowestLevel }: Subject, { type, requestId, ...members }: PartnerSsoEvent, refusal: Refusal
): void {
  const found = lines().filter(({ reqId, reason }) => reqId !== undefined && reason === members.reason)
  if (LEVELS[refusal.level] < lowestLevel) {
    t.strictSame(found, [])
    return
  }
  const { level, msg, reqId, event, hint, err, ...line } = found[0] as Record<string, unknown>
  t.strictSame(
    { lines: found.length, level, reqId, event },
    { lines: 1, level: LEVELS[refusal.level], reqId: requestId, event: type }
  )
  t.match(line, members)
  t.equal(msg, type === members.reason ? `partner-sso: ${type}` : `partner-sso: ${type} (${members.reason})`)
  const messages = [cause(), err].map((error) => (error as Error | undefined)?.message)
  t.equal(messages[0], messages[1], 'onEvent gets the cause')
  t.equal(hint, source[members.reason as RefusalReason].hint)
  if (refusal.level === 'error') t.type(hint, 'string', 'what the host has to fix is explained')
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
