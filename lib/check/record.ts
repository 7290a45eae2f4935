import { unescape } from 'node:querystring'
import { codeOf, targetOf } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import type { Leg } from '../flow/steps.ts'
import { jsonObject } from '../flow/wire.ts'
import type { Exchange } from '../flow/wire.ts'
import type { UserInformation } from '../user-information.ts'
import { unlistedFields } from '../user-information.ts'
import type { Rule } from './rule.ts'
import { advise, expect, Failed, Untested } from './rule.ts'
import { enter } from './session.ts'
import type { Subject } from './subject.ts'
import { SHARED, uncached } from './subject.ts'
import { quoted, reasonsOf } from './voice.ts'

/** Does the portal get what it needs? */
export const RECORD: readonly Rule[] = [
  {
    id: 'service.one-store',
    severity: 'must',
    sentence: 'The same request gets the same response, whichever process of the app it reaches.',
    fix: SHARED,
    isGate: true,
    test: async (subject) => {
      await signIns(subject)
    }
  },
  {
    id: 'token.response',
    severity: 'must',
    sentence: 'The response to a right token request is the plugin’s, unchanged.',
    fix: 'Leave responses of /oauth/token as they are: an onSend hook, a serializer or a proxy changes them.',
    isGate: true,
    test: async (subject) => {
      const { tokens } = await signIns(subject)
      const others = Object.keys(jsonObject((tokens[0] as Exchange).response) as object).filter(
        (name) => !['token_type', 'access_token'].includes(name)
      )
      advise(
        others.length === 0,
        `the response has ${others.join(', ')} besides, which the plugin does not send`
      )
    }
  },
  {
    id: 'user.record',
    severity: 'must',
    sentence: 'The record has the fields and values that the portal accepts, and makes sense to a person.',
    fix: 'Correct what `portalEligibility` returns for this user.',
    isGate: true,
    test: async (subject) => {
      const { users } = await signIns(subject)
      const all = await everyRecord(subject)
      const strange = all
        .flatMap((record) => Object.entries(record))
        .filter(([, value]) => STRANGE.test(String(value).trim()))
      expect(
        strange.length === 0,
        strange.map(([field, value]) => `${field} is "${String(value)}"`).join(', ')
      )
      const added = unlistedFields(jsonObject((users[0] as Exchange).response) as Record<string, unknown>)
      advise(
        added.length === 0,
        `the record has ${added.join(', ')} besides, which the plugin does not send`,
        'An onSend hook or a proxy adds to the response of /oauth/user: leave it as it is.'
      )
      advise(
        all.every(({ email }) => /^[^\s@]+@[^\s@]+$/.test(email)),
        'email is not an e-mail address'
      )
    }
  },
  {
    id: 'user.same-user',
    severity: 'must',
    isGate: true,
    sentence: 'Each sign-in of one user gives the same record.',
    fix:
      'Give the identifier that the app keeps for the user, not a new one each time; keep no user in a variable that ' +
      'requests share.',
    test: async (subject) => {
      const { records } = await signIns(subject)
      const [first, ...others] = records as [UserInformation, ...UserInformation[]]
      others.push((await recordOfNewSession(subject)) ?? first)
      const differing = others.flatMap((other) => fieldsThatDiffer(first, other))
      expect(
        differing.length === 0,
        `${[...new Set(differing)].join(', ')} differ between sign-ins of one user`
      )
    }
  },
  {
    id: 'user.other-user',
    severity: 'must',
    sentence: 'Users who sign in at the same time get each their own record.',
    fix: 'Keep no user in a variable that requests share: `portalEligibility` gets its user as an argument.',
    test: eachTheirOwn
  },
  {
    id: 'user.plain-text',
    severity: 'should',
    sentence: 'The record is plain text: not escaped for HTML or URLs, not read in a wrong encoding.',
    fix: 'Give the text as the user wrote it: UTF-8, with no HTML entities, without spaces around it.',
    test: async (subject) => {
      const records = await everyRecord(subject)
      const found = records
        .flatMap((record) => Object.entries(record))
        .flatMap(([field, value]) =>
          ENCODED.filter(([pattern]) => pattern.test(String(value))).map(([, what]) => `${field} ${what}`)
        )
      expect(found.length === 0, [...new Set(found)].join(', '))
    }
  },
  {
    id: 'authorize.state',
    severity: 'must',
    sentence: 'The state comes back exactly as the portal sent it, whatever its characters and its length.',
    fix: 'Something on the way reads the query and writes it again, or refuses it: pass it on as it came.',
    test: stateComesBack
  }
]

/** Texts that a program writes where a value is missing. */
const STRANGE =
  /^(?:undefined|null|NaN|Invalid Date|\[object \w+\]|true|false|\$\{.*\}|\{\{.*\}\})$|\bundefined\b|\[object \w+\]/

const ENCODED: Array<[RegExp, string]> = [
  [/&(?:amp|lt|gt|quot|apos|#\d{1,6}|#x[\da-f]{1,5});/i, 'is escaped for HTML'],
  [/%[\dA-F]{2}/, 'is encoded for a URL'],
  [/Ã[\x80-\xbf\u2018-\u201e]|Â[\xa0-\xbf]|â€/, 'was read in a wrong encoding'],
  [/\ufffd|\p{Cc}/u, 'has characters that are not text'],
  [/^\s|\s$/, 'has spaces around it']
]

/** The records of all users who may enter; without those who get none. */
async function everyRecord (subject: Subject): Promise<UserInformation[]> {
  const { records } = await signIns(subject)
  const others = subject.options.users.slice(1).map((_user, at) => subject.recordOf(at + 1).catch(() => []))
  return [records[0] as UserInformation, ...(await Promise.all(others)).flat()]
}

interface SignIns {
  tokens: Exchange[]
  users: Exchange[]
  records: UserInformation[]
}

/** Sign-ins of the first user, at once and in turn, each leg with a connection of its own. */
const signIns = (subject: Subject): Promise<SignIns> =>
  subject.once('sign-ins', async () => {
    const grants = [...(await Promise.all([1, 2, 3].map(() => subject.code()))), await subject.code()]
    const tokens = await asked('POST /oauth/token', grants, (grant) => subject.redeem(grant))
    const values = tokens.map((leg) => subject.judgeToken(leg))
    expect(new Set(values).size === values.length, 'two codes get the same access token', {
      rule: 'service.no-cache'
    })
    const users = await asked('GET /oauth/user', values, (token) => subject.user(token))
    await isFresh(subject, users, values)
    return {
      tokens: tokens.map(({ exchange }) => exchange),
      users: users.map(({ exchange }) => exchange),
      records: users.map((leg) => listed(subject.judgeRecord(leg)))
    }
  })

/** The fields of a record that the plugin sends. */
function listed (record: UserInformation): UserInformation {
  const others = unlistedFields({ ...record })
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => !others.includes(name))
  ) as unknown as UserInformation
}

/** Asks for each item at once: where some are refused, processes differ. */
async function asked<Item, Value> (
  name: string,
  items: Item[],
  send: (item: Item) => Promise<Leg<Value>>
): Promise<Array<Leg<Value>>> {
  // In another order than they were issued: processes in turn would get their own.
  const legs = (await Promise.all([...items].reverse().map(send))).reverse()
  const refused = legs.find(({ reading }) => !reading.ok)
  if (refused === undefined) return legs
  // Processes in turn may each have been asked for what another one issued.
  if ([...legs, await send(items[0] as Item)].some(({ reading }) => reading.ok)) {
    const got = `the same request gets different responses: ${name}: ${describe(refused.exchange)}, then success`
    throw new Failed(got, { rule: 'service.one-store', fix: SHARED })
  }
  return legs
}

/** A token that was never used, refused: a cache may have kept the refusal of another one. */
async function isFresh (
  subject: Subject,
  [leg]: Array<Leg<UserInformation>>,
  [token]: string[]
): Promise<void> {
  if (leg?.reading.ok !== false || !reasonsOf(leg.exchange).includes('token_unknown')) return
  const { reading } = await subject.user(String(token), uncached)
  expect(!reading.ok, 'a refusal for a good token, and the record at an address that was not asked before', {
    rule: 'service.no-cache'
  })
}

const fieldsThatDiffer = (one: object, other: object): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => one[name as keyof object] !== other[name as keyof object]
  )

/** The record after another login of the same user; null without one. */
async function recordOfNewSession (subject: Subject): Promise<UserInformation | null> {
  const [user] = subject.options.users
  const grant =
    user?.login === undefined ? null : await subject.grant((await enter(subject, user)).browser)
  return grant !== null && 'code' in grant ? listed(await subject.record(await subject.token(grant))) : null
}

const ROUNDS = 3

/** Two users at the same time; where only one may enter, the other one must not get in meanwhile. */
async function eachTheirOwn (subject: Subject): Promise<void> {
  if (subject.options.users.length > 1) return bothEnter(subject)
  if (subject.options.ineligible === null) {
    throw new Untested('it needs a second user, who may enter or may not')
  }
  const refused = await subject.ineligible()
  expect(codeOf(refused.arrival) === null, 'a code, for the user who may not enter', {
    rule: 'authorize.eligibility'
  })
  const session = await subject.session()
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = await Promise.all([
      subject.authorize(session.browser),
      subject.authorize(refused.browser)
    ])
    expect(codeOf(other) === null, 'a code for the user who may not enter, while one signs in who may')
    expect(
      codeOf(one) !== null,
      `no code for the user who may enter, while one signs in who may not: ${describe(one.exchange)}`
    )
  }
}

async function bothEnter (subject: Subject): Promise<void> {
  const own = [await subject.recordOf(), await subject.recordOf(1)] as const
  if (own[0].external_id === own[1].external_id) {
    const { reading } = await subject.user(await subject.accessToken(1), uncached)
    const isSame = !reading.ok || reading.value.external_id === own[0].external_id
    expect(isSame, 'the record of another user, and the right one at an address that was not asked before', {
      rule: 'service.no-cache'
    })
  }
  expect(
    own[0].external_id !== own[1].external_id,
    `two users have the same external_id, ${own[0].external_id}`,
    { fix: 'Give each user the identifier that the app has for this user.' }
  )
  for (let round = 0; round < ROUNDS; round++) {
    const records = await Promise.all([0, 1].map(async (at) => subject.record(await subject.accessToken(at))))
    const swapped = records.some((record, at) => record.external_id !== own[at as 0 | 1].external_id)
    expect(!swapped, 'the record of another user, where two sign in at the same time')
    const mixed = records.flatMap((record, at) => fieldsThatDiffer(listed(record), listed(own[at as 0 | 1])))
    expect(
      mixed.length === 0,
      `${[...new Set(mixed)].join(', ')} of another user, where two sign in at the same time`
    )
  }
}

/** States as they stand in the URL: characters that programs change, and the longest that is usual. */
const STATES: Array<[what: string, encoded: string]> = [
  ['a state with commas, plus and percent signs', 'a,b;c+d%2Be%2Cf%20g%25h%26i%3Dj'],
  ['a state of Unicode', '%C3%A9%E2%82%AC%F0%9F%99%82~!*()'],
  ['a state of 1,500 characters', `${'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(41)}.-_~`]
]

async function stateComesBack (subject: Subject): Promise<void> {
  const { browser } = await subject.session()
  for (const [what, encoded] of STATES) {
    const url = subject.authorizeUrl({ state: 'STATE' }).replace('STATE', encoded)
    const exchange = await browser.request(url, 'GET')
    const target = targetOf({ at: 'page', exchange, url, hops: [] })
    const raw = /[?&]state=([^&#]*)/.exec(String(target))?.[1]
    const reasons = reasonsOf(exchange)
    if (raw === undefined) throw new Failed(`${what}: ${quoted(exchange)}`, { reasons })
    // Of a URL that is written again only the value must be the same.
    expect(
      raw === encoded || decoded(raw) === decoded(encoded),
      `${what} comes back as ${raw.slice(0, 60)}`
    )
  }
}

const decoded = (text: string): string => unescape(text.replaceAll('+', ' '))
