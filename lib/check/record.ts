// Does the portal get what it needs?
import { isDeepStrictEqual } from 'node:util'
import type { UserInformation } from '../user-information.ts'
import { readUserInformation, unlistedFields } from '../user-information.ts'
import { Cached } from './interruptions.ts'
import type { Rule } from './rule.ts'
import type { Subject } from './subject.ts'
import type { Or, Verdict } from './verdict.ts'
import { advice, atOnce, Fault, gravest, isVerdict, Untested } from './verdict.ts'
import { inWords, isPlugin } from './voice.ts'

export const oneStore: Rule = {
  id: 'service.one-store',
  group: 'record',
  severity: 'must',
  sentence: 'The same request gets the same response, whichever process of the app it reaches.',
  fix: 'Let all processes share one store (the option redis or store), one of sessions, and one configuration.',
  isGate: true,
  async test (subject) {
    const records = await signIns(subject)
    return isVerdict(records) ? records : alternating(records)
  }
}

export const tokenResponse: Rule = {
  id: 'token.response',
  group: 'record',
  severity: 'must',
  sentence: 'The response to a right token request is the plugin’s, unchanged.',
  fix: 'Leave responses of /oauth/token as they are: an onSend hook, a serializer or a proxy changes them.',
  isGate: true,
  async test (subject) {
    const records = await signIns(subject)
    return isVerdict(records) ? records : null
  }
}

export const userRecord: Rule = {
  id: 'user.record',
  group: 'record',
  severity: 'must',
  sentence: 'The record has the fields and values that the portal accepts, and makes sense to a person.',
  fix: 'Correct what `portalEligibility` returns for this user.',
  isGate: true,
  async test (subject) {
    const records = await signIns(subject)
    if (isVerdict(records)) return records
    return gravest(records.flatMap((record) => [
      ...faultsIn(record, MISSING, (got) => new Fault(got)),
      unlisted(record),
      ...faultsIn(record, ENCODED, (got) => advice(got, AS_WRITTEN)),
      isAddress(record.email) ? null : advice(`email is not an e-mail address: ${record.email}`, NO_ADDRESS)
    ]))
  }
}

export const userOtherUser: Rule = {
  id: 'user.other-user',
  group: 'record',
  severity: 'must',
  sentence:
    'Each sign-in of one user gives the same record, and users who sign in at the same time get each their own.',
  fix:
    'Give each user the identifier that the app keeps for this user, not a new one each time. Keep no user in a ' +
    'variable that requests share: `portalEligibility` gets its user as an argument.',
  test: eachTheirOwn
}

export const authorizeState: Rule = {
  id: 'authorize.state',
  group: 'record',
  severity: 'must',
  sentence: 'The state comes back exactly as the portal sent it, whatever its characters and its length.',
  fix:
    'Something on the way reads the query or the Location and writes it again, or refuses it: pass both on as they ' +
    'came.',
  isGate: true,
  test: stateComesBack
}

/** What a program writes where a value is missing. */
const MISSING = {
  'is not filled in': /^(?:null(?: null)*|NaN|Invalid Date|true|false|\$\{.*\}|\{\{.*\}\})$/,
  'has a part that is not filled in': /\bundefined\b|\[object \w+\]|^\{"|=>/
}

const AS_WRITTEN = 'Give the text as the user wrote it: UTF-8, with no HTML entities, without spaces around it.'

const ENCODED = {
  'is escaped for HTML': /&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\da-f]{1,5});/i,
  'is encoded for a URL': /%[\dA-F]{2}/,
  'was read in a wrong encoding': /Ã[\x80-\xbf\u2018-\u201e]|Â[\xa0-\xbf]|â€/,
  'has characters that are not text': /\ufffd|\p{Cc}/u,
  'has spaces around it': /^\s|\s$/
}

const NO_ADDRESS =
  'Give the address of the user. A user who has none: what your support knows the user by; then leave it as it is.'

const isAddress = (email: string): boolean => /^[^\s@]+@[^\s@]+$/.test(email)

/** Characters that programs change, and the longest state that is usual: 1,450 characters. */
const STATES = ['a,b;c+d e%25f&g=h~!*()é€🙂', '-._~ABCDEFGHIJKLMNOPQRSTUVWXY'.repeat(50)]

/** The faults of the texts of a record, by the names of the faults. What others have added, the portal ignores. */
function faultsIn (record: UserInformation, faults: Record<string, RegExp>, faultOf: (got: string) => Fault): Fault[] {
  const added = addedTo(record)
  return Object.entries(record).filter(([field]) => !added.includes(field)).flatMap(([field, value]) =>
    Object.entries(faults).flatMap(([what, pattern]) =>
      pattern.test(String(value)) ? faultOf(`${field} ${what}: ${value}`) : []))
}

function unlisted (record: UserInformation): Fault | null {
  const added = addedTo(record).join(', ')
  return added === '' ? null : advice(`a hook or a proxy adds ${added}`, 'Leave the response of /oauth/user as it is.')
}

const addedTo = (record: UserInformation): string[] => unlistedFields({ ...record })

/** A record as the plugin sends it, for comparison. */
const textOf = (record: unknown) => JSON.stringify(readUserInformation(record, 'partner').record)

/** The fault where the fields that the plugin sends are not the same. */
function different (records: UserInformation[], fix?: string): Fault | null {
  const texts = new Set(records.map(textOf))
  return texts.size === 1 ? null : new Fault(`different records: ${[...texts].join(' and ')}`, { fix })
}

/** The fault where one user has two records in turn: processes have different roles or data. */
function alternating (records: UserInformation[]): Fault | null {
  const isRepeated = new Set(records.map(textOf)).size < records.length
  return isRepeated
    ? different(records, 'Let all processes run the same version with the same configuration, and read the same data.')
    : null
}

/** The records of three sign-ins of the first user. */
export function signIns (subject: Subject): Promise<Or<UserInformation[]>> {
  return subject.once('sign-ins', async () => {
    // In turn: a session may be another one after each request.
    const grants = [await subject.code(), await subject.code(), await subject.code()]
    const records = await atOnce(grants.map((grant) => subject.complete(grant)))
    return records.find(isVerdict) ?? (records as UserInformation[])
  })
}

/** The record after another login of the first user; none without a login, or where it gets no code now. */
async function afterLogin (subject: Subject): Promise<Or<UserInformation[]>> {
  const session = await subject.entered()
  if (isVerdict(session) || session.user.login === undefined || session.isSpent) return []
  const browser = subject.browserOf(session.user)
  const { reading } = await subject.grant(browser, session.user.login)
  if (!reading.ok) return []
  // This login may have ended the session before it.
  session.browser = browser
  const record = await subject.complete(reading.value)
  return isVerdict(record) ? record : [record]
}

async function eachTheirOwn (subject: Subject): Promise<Verdict> {
  const records = await signIns(subject)
  const again = await afterLogin(subject)
  if (isVerdict(records)) return records
  if (isVerdict(again)) return again
  const known = [...records, ...again]
  const fault = different(known)
  if (fault !== null) return fault
  const second = await subject.entered(1)
  if (isVerdict(second)) return second
  const [one, other] = subject.options.users
  if (isDeepStrictEqual(one, other)) {
    return new Untested('it needs a second user: the second one that was given is the first')
  }
  const { reading } = await subject.user('n'.repeat(43))
  if (reading.ok) throw new Cached('the record, for a token that nobody issued')
  return (await mixedUp(subject, known, atOnceCodes)) ?? mixedUp(subject, known, atOnceRecords)
}

/** What two users get, with requests at the same time: first the codes, where the app finds its users. */
async function atOnceCodes (subject: Subject): Promise<Array<Or<UserInformation>>> {
  const grants = await atOnce([subject.code(), subject.code(1)])
  return [await subject.complete(grants[0]!), await subject.complete(grants[1]!)]
}

/** The same with the records at the same time, where only something in front can take one for the other. */
async function atOnceRecords (subject: Subject): Promise<Array<Or<UserInformation>>> {
  const grants = [await subject.code(), await subject.code(1)]
  return atOnce(grants.map((grant) => subject.complete(grant)))
}

async function mixedUp (
  subject: Subject,
  known: UserInformation[],
  signIn: typeof atOnceCodes
): Promise<Verdict> {
  const [one, other] = await signIn(subject) as [Or<UserInformation>, Or<UserInformation>]
  if (isVerdict(one)) return one
  if (isVerdict(other)) return other
  const fix = signIn === atOnceRecords
    ? 'Something in front gives two requests of /oauth/user one response (request collapsing of a CDN, proxy_cache, ' +
      'a hook): exempt /oauth/* from it.'
    : undefined
  if (one.external_id === other.external_id) return new Fault('two users have the same external_id', { fix })
  return different([...known, one], fix)
}

/**
 * By a refusal, which needs no login: the plugin sends the state back with it. Before the login, which
 * a changed query keeps from leading back.
 */
async function stateComesBack (subject: Subject): Promise<Verdict> {
  const browser = await browserThatReaches(subject)
  if (isVerdict(browser)) return browser
  for (const state of STATES) {
    const { exchange, target } = await subject.authorize(browser, { state, response_type: 'token' })
    if (target?.searchParams.get('state') === state) continue
    const what = state.length > 100 ? `a state of ${state.length} characters` : `the state ${state}`
    return new Fault(`${inWords(exchange)}, for ${what}`, { exchange })
  }
  return null
}

/** A browser whose request reaches the plugin: that of nobody, or of the user, where a guard stands before it. */
async function browserThatReaches (subject: Subject) {
  const browser = subject.browserOf()
  const { exchange } = await subject.authorize(browser, { response_type: 'token' })
  if (isPlugin(exchange)) return browser
  const session = await subject.entered()
  if (isVerdict(session)) return session
  const again = await subject.authorize(session.browser, { response_type: 'token' })
  return isPlugin(again.exchange)
    ? session.browser
    : new Untested('it needs a user who gets in: without a user the app leads to its login')
}
