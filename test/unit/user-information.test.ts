// The record: every rule, and the schema that says the same.
import t from 'tap'
import { Compile } from 'typebox/schema'
import { UserInformation as schema } from '../../lib/index.ts'
import { readUserInformation, RECORD_LIMIT, unlistedFields } from '../../lib/user-information.ts'

const ofSchema = Compile(schema)
const partner = {
  external_id: '1',
  email: 'a@b',
  name: 'A',
  type: 'partner',
  control_role: 'Partner Read Only',
  product_role: 'Product Operator'
}
const client = { ...partner, type: 'client', control_role: 'Client Administrator', client_id: 7 }
const without = (record: object, name: string) =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))

type Level = 'partner' | 'client'

const faultsOf = (record: unknown, level: Level): string[] => readUserInformation(record, level).faults
const accepts = (record: unknown, level: Level): boolean => faultsOf(record, level).length === 0

/** What the portal gets of a valid record. */
function sent (given: object, level: Level): object {
  const { record, faults } = readUserInformation(given, level)
  if (faults.length > 0) throw new Error(faults.join())
  return JSON.parse(JSON.stringify(record))
}

t.test('the three shapes of a record', async (t) => {
  const { client_id: _, ...clientUser } = client
  const ofLevel: Record<Level, object[]> = {
    partner: [
      partner,
      { ...partner, control_role: 'Partner Administrator', product_role: 'Product Read Only' },
      client,
      { ...client, control_role: 'Client Read Only', client_id: '7', client_name: 'N', client_external_id: 'x' },
      { ...client, client_id: -1.5 },
      { ...clientUser, client_external_id: 'x' }
    ],
    client: [client, clientUser]
  }
  for (const level of ['partner', 'client'] as const) {
    for (const record of ofLevel[level]) {
      const text = JSON.stringify(record)
      t.match(sent(record, level), record, text)
      t.ok(level === 'client' || ofSchema.Check(record), `for the schema: ${text}`)
    }
  }
})

const TEXT = 'a non-empty string of well-formed Unicode without NUL'
const MEANINGS = {
  external_id: "the partner application's user identifier",
  email: "the user's e-mail address",
  name: "the user's display name",
  client_name: "the portal's client name",
  client_external_id: "the partner application's client identifier"
}

t.test('each broken rule is named, without a word of the record', async (t) => {
  const text = (field: keyof typeof MEANINGS, got: string) =>
    new RegExp(`^${field} must be ${TEXT} \\(${MEANINGS[field]}\\), got ${got}$`)
  const cases: Array<[record: unknown, level: Level, message: RegExp]> = [
    ['hush', 'partner', /it must be an object, got a string of \d+ characters$/],
    [null, 'partner', /it must be an object, got null$/],
    [[], 'partner', /^type must be "partner" or "client", got undefined$/],
    [without(partner, 'external_id'), 'partner', text('external_id', 'undefined')],
    [{ ...partner, external_id: 17 }, 'partner', text('external_id', 'a number')],
    [{ ...partner, email: '' }, 'partner', text('email', 'an empty string')],
    [{ ...partner, product_role: 'operator' }, 'partner',
      /^product_role must be "Product Operator" or "Product Read Only", got "operator"$/],
    [{ ...partner, type: 'Partner' }, 'partner', /^type must be "partner" or "client", got "Partner"$/],
    [{ ...partner, type: 'constructor' }, 'partner', /^type must .*, got a string of 11 characters$/],
    [{ ...partner, control_role: 'Client Administrator' }, 'partner',
      /^control_role must be "Partner Administrator" or "Partner Read Only" where type is "partner", got "Client/],
    [{ ...client, control_role: 'Partner Administrator' }, 'partner',
      /^control_role must be "Client Administrator" or "Client Read Only" where type is "client", got "Partner/],
    [{ ...client, control_role: 'Partner Read Only' }, 'partner', /^control_role must/],
    [{ ...partner, control_role: 'Client Read Only' }, 'partner', /^control_role must/],
    [partner, 'client', /^type must be "client" at the client level, got "partner"$/],
    [{ ...partner, client_id: 'hush' }, 'partner',
      /^client_id must be absent where type is "partner", got a string of 4 characters$/],
    [{ ...partner, client_name: '' }, 'partner', /^client_name must be absent .*, got an empty string$/],
    [{ ...partner, client_external_id: '' }, 'partner', /^client_external_id must be absent .*, got an empty string$/],
    [{ ...partner, name: 'N\0' }, 'partner', text('name', 'a string of 2 characters')],
    [{ ...partner, name: 'Zoë \ud83e' }, 'partner', text('name', 'a string of 5 characters')],
    [{ ...partner, email: '\udd11x' }, 'partner', text('email', 'a string of 2 characters')],
    [{ ...partner, external_id: 'x\0' }, 'partner', text('external_id', 'a string of 2 characters')],
    [{ ...client, client_name: 1 }, 'partner', text('client_name', 'a number')],
    [{ ...client, client_external_id: '\ud83e' }, 'partner', text('client_external_id', 'a string of 1 characters')],
    [{ ...client, client_id: 'x\0' }, 'partner', /^client_id must be .* without NUL, or a number .*, got a string/],
    [{ ...client, client_id: '' }, 'partner',
      /^client_id must be .* NUL, or a number \(the portal's client identifier\), got an empty string$/],
    [{ ...client, client_id: NaN }, 'partner', /^client_id must be .* or a number .*, got NaN$/],
    [without(client, 'client_id'), 'partner',
      /^client_id or client_external_id must be given for a client user at the partner level, got neither$/]
  ]
  for (const [record, level, message] of cases) {
    const row = String(message)
    const faults = faultsOf(record, level)
    t.match(faults[0], message, row)
    t.notMatch(faults.join(), /hush|a@b/, row)
    t.equal(ofSchema.Check(record), accepts(record, level === 'partner' ? 'client' : 'partner'),
      `the schema, which knows no level: ${row}`)
  }
})

t.test('a client field that is null counts as absent: a row of a database has it', async (t) => {
  const none = { client_id: null, client_name: null, client_external_id: null }
  for (const [record, expected] of [
    [{ ...partner, ...none }, partner],
    [{ ...client, ...none, client_id: 7 }, client],
    [{ ...client, ...none, client_external_id: 'x' }, { ...without(client, 'client_id'), client_external_id: 'x' }]
  ] as const) {
    t.same(sent(record, 'partner'), expected, JSON.stringify(record))
    t.ok(ofSchema.Check(record), `for the schema: ${JSON.stringify(record)}`)
  }
})

t.test('every broken rule', async (t) => {
  t.strictSame(faultsOf(partner, 'partner'), [])
  t.match(faultsOf({ ...client, email: '', client_id: '' }, 'client'), [/^email must/, /^client_id must/])
  t.match(faultsOf({ type: 'boss' }, 'partner'), [/^type must .* 4 characters$/], 'the others depend on the type')
  t.match(faultsOf({ ...partner, name: 1 }, 'client'), [/^name must/, /^type must be "client"/])
  t.strictSame(unlistedFields({ ...client, phone: '1', toString: 1 }), ['phone', 'toString'])
})

t.test('a record is at most 16 KiB as JSON, in bytes of UTF-8', async (t) => {
  const rest = Buffer.byteLength(JSON.stringify(partner)) - 1
  const nameOf = (bytes: number) => 'é'.repeat(bytes / 2) + 'x'.repeat(bytes % 2)
  const ofSize = (size: number) => ({ ...partner, name: nameOf(size - rest) })
  t.equal(RECORD_LIMIT, 16_384)
  t.strictSame(faultsOf(ofSize(RECORD_LIMIT), 'partner'), [])
  const rule = 'its JSON must be at most 16384 bytes in UTF-8, got 16385'
  t.strictSame(faultsOf(ofSize(RECORD_LIMIT + 1), 'partner'), [rule])
})

t.test('what leaves is what was checked', async (t) => {
  let reads = 0
  const record = { ...client, get email () { return reads++ === 0 ? 'a@b' : 17 }, unlisted: 'x', toJSON: () => ({}) }
  t.equal(JSON.stringify(readUserInformation(record, 'partner').record), JSON.stringify({
    external_id: '1',
    email: 'a@b',
    name: 'A',
    type: 'client',
    client_id: 7,
    control_role: 'Client Administrator',
    product_role: 'Product Operator'
  }))
})
