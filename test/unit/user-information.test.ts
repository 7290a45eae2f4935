// The record: every rule, and the schema that says the same.
import t from 'tap'
import { Compile } from 'typebox/schema'
import { UserInformation as schema } from '../../lib/index.ts'
import { readUserInformation, unlistedFields } from '../../lib/user-information.ts'

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
      { ...client, client_id: 0 },
      { ...client, client_id: -1.5 },
      { ...client, client_id: 0.1 },
      { ...client, client_id: 2 ** 53 - 1 },
      { ...client, client_id: -(2 ** 53 - 1) },
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

t.test('each broken rule is named, without a word of the record', async (t) => {
  const text = (field: string, got: string) => new RegExp(`^${field} must be ${TEXT} \\(the .*\\), got ${got}$`)
  const ofPartner: Array<[changes: object, message: RegExp]> = [
    [{ external_id: undefined }, text('external_id', 'undefined')],
    [{ external_id: 17 }, text('external_id', 'a number')],
    [{ external_id: 'x\0' }, text('external_id', 'a string of 2 characters')],
    [{ email: '' }, text('email', 'an empty string')],
    [{ email: '\udd11x' }, text('email', 'a string of 2 characters')],
    [{ name: 'Zoë \ud83e' }, text('name', 'a string of 5 characters')],
    [
      { product_role: 'operator' },
      /^product_role must be "Product Operator" or "Product Read Only", got "operator"$/
    ],
    // Not a role, although its last word begins as one: it may be the name of a person.
    [{ product_role: 'Ada O' }, /^product_role must be .*, got a string of 5 characters$/],
    [{ type: 'Partner' }, /^type must be "partner" or "client", got "Partner"$/],
    [
      { control_role: 'Client Administrator' },
      /^control_role must be "Partner Administrator" or "Partner Read Only" where type is "partner", got "Client/
    ],
    [{ client_id: 'hush' }, /^client_id must be absent where type is "partner", got a string of 4 characters$/],
    [{ client_name: '' }, /^client_name must be absent .*, got an empty string$/],
    [{ client_external_id: '' }, /^client_external_id must be absent .*, got an empty string$/]
  ]
  const ofClient: typeof ofPartner = [
    [
      { control_role: 'Partner Administrator' },
      /^control_role must be "Client Administrator" or "Client Read Only" where type is "client", got "Partner/
    ],
    [{ client_name: 1 }, text('client_name', 'a number')],
    [{ client_external_id: '\ud83e' }, text('client_external_id', 'a string of 1 characters')],
    [{ client_id: 'x\0' }, /^client_id must be .* without NUL, or a number .*, got a string/],
    [{ client_id: '' }, /^client_id must be .* NUL, or a number .* \(the portal's client identifier\), got an empty/],
    [{ client_id: NaN }, /^client_id must be .* or a number .*, got NaN$/],
    // What JavaScript makes of 9007199254740993 and -9007199254740993, which it cannot hold.
    [{ client_id: 2 ** 53 }, /^client_id must be .* from -\(2\^53 - 1\) to 2\^53 - 1, .*, got a number$/],
    [{ client_id: -(2 ** 53) }, /^client_id must be .* from -\(2\^53 - 1\) to 2\^53 - 1, .*, got a number$/]
  ]
  const records = [
    ...ofPartner.map(([changes, message]) => [{ ...partner, ...changes }, message] as const),
    ...ofClient.map(([changes, message]) => [{ ...client, ...changes }, message] as const),
    ['hush', /it must be an object, got a string of \d+ characters$/] as const
  ]
  for (const [record, message] of records) {
    const faults = faultsOf(record, 'partner')
    t.match(faults[0], message, String(message))
    t.notMatch(faults.join(), /hush|a@b/, String(message))
    t.notOk(ofSchema.Check(record), `for the schema: ${message}`)
  }
})

t.test('what the level allows, which the schema does not know', async (t) => {
  t.match(faultsOf(partner, 'client'), [/^type must be "client" at the client level, got "partner"$/])
  const rule = /^client_id or client_external_id must be given for a client user at the partner level, got neither$/
  t.match(faultsOf(without(client, 'client_id'), 'partner'), [rule])
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
  t.match(faultsOf({ type: 'boss' }, 'partner'), [/^type must .* 4 characters$/], 'the others depend on the type')
  t.strictSame(unlistedFields({ ...client, phone: '1', toString: 1 }), ['phone', 'toString'])
})

t.test('a record is at most 16 KiB as JSON, in bytes of UTF-8', async (t) => {
  const rest = Buffer.byteLength(JSON.stringify(partner)) - 1
  const ofSize = (size: number) => ({ ...partner, name: 'é' + 'x'.repeat(size - rest - 2) })
  t.strictSame(faultsOf(ofSize(16_384), 'partner'), [])
  const rule = 'its JSON must be at most 16384 bytes in UTF-8, got 16385'
  t.strictSame(faultsOf(ofSize(16_385), 'partner'), [rule])
})

t.test('a record may be an entity of a class, whose fields are getters that it inherits', async (t) => {
  const prototype = Object.defineProperties({}, Object.fromEntries(
    Object.entries(client).map(([field, value]) => [field, { get: () => value }])
  ))
  t.strictSame(sent(Object.create(prototype), 'partner'), client)
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
