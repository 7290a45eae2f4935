import { codeOf } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import { readArrival } from '../flow/responses.ts'
import type { UserInformation } from '../user-information.ts'
import { readUserInformation, unlistedFields } from '../user-information.ts'
import type { Rule } from './rule.ts'
import { advise, expect, Failed } from './rule.ts'
import { enter } from './session.ts'
import type { Subject } from './subject.ts'
import { SHARED } from './subject.ts'
import { reasonsOf } from './voice.ts'

/** Does the portal get what it needs? */
export const RECORD: readonly Rule[] = [
  {
    id: 'service.one-store',
    sentence: 'The same request gets the same response, whichever process of the app it reaches.',
    fix: SHARED,
    isGate: true,
    test: signIns
  },
  {
    id: 'token.response',
    sentence: 'The response to a right token request is the plugin’s, unchanged.',
    fix: 'Leave responses of /oauth/token as they are: an onSend hook, a serializer or a proxy changes them.',
    isGate: true,
    test: async (subject) => {
      const { exchange } = await subject.redeem(await subject.code())
      const isExact = /^\{"token_type":"Bearer","access_token":"[^"]+"\}$/.test(String(exchange.response?.body))
      advise(isExact, 'the response was written again, or has more members than token_type and access_token')
    }
  },
  {
    id: 'user.record',
    sentence: 'The record has the fields and values that the portal accepts, and makes sense to a person.',
    fix: 'Correct what `portalEligibility` returns for this user.',
    isGate: true,
    test: async (subject) => {
      await expectNone(subject, MISSING)
      const record = await subject.signIn()
      const added = unlistedFields({ ...record })
      advise(
        added.length === 0,
        `the record has ${added.join(', ')} besides, which the plugin does not send`,
        'An onSend hook or a proxy adds to the response of /oauth/user: leave it as it is.'
      )
      advise(/^[^\s@]+@[^\s@]+$/.test(record.email), `email is not an e-mail address: ${record.email}`)
    }
  },
  {
    id: 'user.same-user',
    sentence: 'Each sign-in of one user gives the same record.',
    fix:
      'Give the identifier that the app keeps for the user, not a new one each time; keep no user in a variable that ' +
      'requests share.',
    isGate: true,
    test: async (subject) => {
      expectSame([...(await signIns(subject)), ...(await afterLogin(subject))], 'differ between sign-ins of one user')
    }
  },
  {
    id: 'user.other-user',
    sentence: 'Users who sign in at the same time get each their own record.',
    fix: 'Keep no user in a variable that requests share: `portalEligibility` gets its user as an argument.',
    test: (subject) => (subject.options.users.length > 1 ? bothGetIn(subject) : oneGetsIn(subject))
  },
  {
    id: 'user.plain-text',
    severity: 'should',
    sentence: 'The record is plain text: not escaped for HTML or URLs, not read in a wrong encoding.',
    fix: 'Give the text as the user wrote it: UTF-8, with no HTML entities, without spaces around it.',
    test: (subject) => expectNone(subject, ENCODED)
  },
  {
    id: 'authorize.state',
    sentence: 'The state comes back exactly as the portal sent it, whatever its characters and its length.',
    fix: 'Something on the way reads the query and writes it again, or refuses it: pass it on as it came.',
    test: async (subject) => {
      const { browser } = await subject.session()
      for (const [what, state] of STATES) {
        const arrival = await subject.authorize(browser, { state })
        const reading = readArrival(arrival, state, subject.integration)
        if (!reading.ok) throw new Failed(`${what}: ${reading.got}`, { reasons: reasonsOf(arrival.exchange) })
      }
    }
  }
]

/** Faults of a text, and their names. */
type Faults = Array<[pattern: RegExp, what: string]>

/** Texts that a program writes where a value is missing. */
const MISSING: Faults = [
  [/^(?:null|NaN|Invalid Date|true|false|\$\{.*\}|\{\{.*\}\})$/, 'is not filled in'],
  [/\bundefined\b|\[object \w+\]/, 'has a part that is not filled in']
]

const ENCODED: Faults = [
  [/&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\da-f]{1,5});/i, 'is escaped for HTML'],
  [/%[\dA-F]{2}/, 'is encoded for a URL'],
  [/Ã[\x80-\xbf\u2018-\u201e]|Â[\xa0-\xbf]|â€/, 'was read in a wrong encoding'],
  [/\ufffd|\p{Cc}/u, 'has characters that are not text'],
  [/^\s|\s$/, 'has spaces around it']
]

/** Characters that programs change, and the longest state that is usual. */
const STATES = [
  ['a state with commas, plus and percent signs, and Unicode', 'a,b;c+d e%25f&g=h~!*()é€🙂'],
  ['a state of 1,500 characters', '-._~ABCDEFGHIJKLMNOPQRSTUVWXY'.repeat(50)]
] as const

/** No text of any user has one of these faults. */
async function expectNone (subject: Subject, faults: Faults): Promise<void> {
  // Without those who get no record.
  const others = subject.options.users.map((_user, at) => subject.recordOf(at).catch(() => []))
  const records = [...(await signIns(subject)), ...(await Promise.all(others)).flat()]
  for (const [field, value = ''] of records.flatMap((record) => Object.entries(listed(record)))) {
    for (const [pattern, what] of faults) expect(!pattern.test(String(value)), `${field} ${what}: ${value}`)
  }
}

/** The fields of a record that the plugin sends. */
const listed = (record: unknown): Record<string, unknown> => ({ ...readUserInformation(record, 'partner').record })

function expectSame (records: unknown[], what: string): void {
  const [first = {}, ...others] = records.map(listed)
  const fields = Object.keys(first).filter((name) => others.some((other) => other[name] !== first[name]))
  expect(fields.length === 0, `${fields.join(', ')} ${what}`)
}

/** Sign-ins of the first user, at once and in turn. */
function signIns (subject: Subject): Promise<UserInformation[]> {
  return subject.once('sign-ins', async () => {
    const atOnce = await Promise.all([1, 2, 3].map(() => subject.signIn()))
    return [...atOnce, await subject.signIn()]
  })
}

/** A record after another login of the same user; none without a login, or where that user gets no code now. */
async function afterLogin (subject: Subject): Promise<UserInformation[]> {
  const [user] = subject.options.users
  if (user?.login === undefined) return []
  const { browser } = await enter(subject, user)
  const { reading } = await subject.grant(browser)
  return reading.ok ? [await subject.record(await subject.token(reading.value))] : []
}

const AT_ONCE = 'of another user, where two sign in at the same time'

async function bothGetIn (subject: Subject): Promise<void> {
  // In turn: where the login of user.same-user has ended a session, a new one begins.
  const own = [await subject.signIn(), await subject.signIn(1)]
  const [one, other] = own.map(({ external_id: id }) => id)
  const { reading } = await subject.user('n'.repeat(43))
  expect(!reading.ok, 'the record, for a token that nobody issued', { rule: 'service.no-cache' })
  expect(one !== other, `two users have the same external_id, ${one}`, {
    fix: 'Give each user the identifier that the app has for this user.'
  })
  const users = [0, 1, 0, 1, 0, 1]
  await Promise.all(users.map(async (at) => expectSame([own[at], await subject.signIn(at)], AT_ONCE)))
}

/** The user who may not enter must not get in meanwhile, and must not keep the other one out. */
async function oneGetsIn (subject: Subject): Promise<void> {
  const both = [await subject.ineligible(), await subject.session()]
  const tries = [...both, ...both, ...both].map(async ({ browser, arrival }) => {
    const again = await subject.authorize(browser)
    const isSame = (codeOf(again) === null) === (codeOf(arrival) === null)
    expect(isSame, `the outcome ${AT_ONCE}: ${describe(again.exchange)}`)
  })
  await Promise.all(tries)
}
