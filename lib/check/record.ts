import { describe } from '../flow/failure.ts'
import type { UserInformation } from '../user-information.ts'
import { readUserInformation, unlistedFields } from '../user-information.ts'
import type { Details, Rule } from './rule.ts'
import { advise, atOnce, expect } from './rule.ts'
import { CACHE } from './sending.ts'
import type { Subject } from './subject.ts'

/** Does the portal get what it needs? */
export const RECORD: readonly Rule[] = [
  {
    id: 'service.one-store',
    sentence: 'The same request gets the same response, whichever process of the app it reaches.',
    fix: 'Let all processes share one store (the option redis or store), one of sessions, and one configuration.',
    isGate: true,
    test: signIns
  },
  {
    id: 'token.response',
    sentence: 'The response to a right token request is the plugin’s, unchanged.',
    fix: 'Leave responses of /oauth/token as they are: an onSend hook, a serializer or a proxy changes them.',
    isGate: true,
    test: signIns
  },
  {
    id: 'user.record',
    sentence: 'The record has the fields and values that the portal accepts, and makes sense to a person.',
    fix: 'Correct what `portalEligibility` returns for this user.',
    isGate: true,
    async test (subject) {
      const records = await signIns(subject)
      expectNone(records, MISSING)
      for (const record of records) {
        advise(/^[^\s@]+@[^\s@]+$/.test(record.email), `email is not an e-mail address: ${record.email}`)
        const added = unlistedFields({ ...record }).join(', ')
        advise(added === '', `a hook or a proxy adds ${added}`, 'Leave the response of /oauth/user as it is.')
      }
      expectNone(records, ENCODED, { severity: 'should', fix: AS_WRITTEN })
    }
  },
  {
    id: 'user.other-user',
    sentence:
      'Each sign-in of one user gives the same record, and users who sign in at the same time get each their own.',
    fix:
      'Give each user the identifier that the app keeps for this user, not a new one each time. Keep no user in a ' +
      'variable that requests share: `portalEligibility` gets its user as an argument.',
    async test (subject) {
      expectSame([...(await signIns(subject)), ...(await afterLogin(subject))])
      await subject.entered(1)
      const { reading } = await subject.user('n'.repeat(43))
      expect(!reading.ok, 'the record, for a token that nobody issued', { fix: CACHE, isEnd: true })
      for (let round = 0; round < 2; round++) {
        const [one, other] = await atOnce([subject.signIn(), subject.signIn(1)])
        expectSame([...(await signIns(subject)), one])
        expect(one?.external_id !== other?.external_id, 'two users have the same external_id')
      }
    }
  },
  {
    id: 'authorize.state',
    sentence: 'The state comes back exactly as the portal sent it, whatever its characters and its length.',
    fix: 'Something on the way reads the query and writes it again, or refuses it: pass it on as it came.',
    async test (subject) {
      const { browser } = await subject.session()
      for (const state of STATES) {
        const { exchange, target } = await subject.authorize(browser, { state })
        const isSame = target?.searchParams.get('state') === state
        expect(isSame, `for the state ${state}: ${describe(exchange)}`, { exchange })
      }
    }
  }
]

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

/** Characters that programs change, and the longest state that is usual: 1,500 characters. */
const STATES = ['a,b;c+d e%25f&g=h~!*()é€🙂', '-._~ABCDEFGHIJKLMNOPQRSTUVWXY'.repeat(50)]

/** No text has one of these faults, by their names. */
function expectNone (records: UserInformation[], faults: Record<string, RegExp>, details?: Details) {
  for (const [field, value] of records.flatMap((record) => Object.entries(record))) {
    for (const [what, pattern] of Object.entries(faults)) {
      expect(!pattern.test(String(value)), `${field} ${what}: ${value}`, details)
    }
  }
}

/** The fields that the plugin sends are the same. */
function expectSame (records: unknown[]) {
  const different = new Set(records.map((record) => JSON.stringify(readUserInformation(record, 'partner').record)))
  expect(different.size === 1, `different records: ${[...different].join(' and ')}`)
}

/** The records of three sign-ins of the first user. */
export function signIns (subject: Subject) {
  return subject.once('sign-ins', async () => {
    // In turn: a session may be another one after each request.
    const grants = [await subject.code(), await subject.code(), await subject.code()]
    return atOnce(grants.map(async (grant) => subject.record(await subject.token(grant))))
  })
}

/** The record after another login of the first user; none without a login, or where it gets no code now. */
async function afterLogin (subject: Subject) {
  const session = await subject.entered()
  if (session.user.login === undefined || session.isSpent) return []
  const browser = subject.browserOf(session.user)
  const { reading } = await subject.grant(browser, session.user.login)
  if (!reading.ok) return []
  // This login may have ended the session before it.
  session.browser = browser
  return [await subject.record(await subject.token(reading.value))]
}
