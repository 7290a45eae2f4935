// The record: every rule of spec section 2.3, and the schema that says the same.
import fc from 'fast-check'
import t from 'tap'
import { Check } from 'typebox/value'
import { UserInformation as schema } from '../../lib/index.ts'
import { checkUserInformation } from '../../lib/user-information.ts'

const partner = { external_id: '1', email: 'a@b', name: 'A', type: 'partner', control_role: 'Partner Read Only', product_role: 'Product Operator' }
const client = { ...partner, type: 'client', control_role: 'Client Administrator', client_id: 7 }
const without = (record: object, name: string) => Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))

t.test('the shapes of spec section 4.3', async (t) => {
  for (const control_role of ['Partner Administrator', 'Partner Read Only']) {
    for (const product_role of ['Product Operator', 'Product Read Only']) {
      const record = { ...partner, control_role, product_role }
      t.match(checkUserInformation(record, 'partner'), record)
    }
  }
  for (const control_role of ['Client Administrator', 'Client Read Only']) {
    const record = { ...client, control_role }
    t.match(checkUserInformation(record, 'partner'), record)
    t.match(checkUserInformation(without(record, 'client_id'), 'client'), without(record, 'client_id'))
  }
  for (const identifier of [{ client_id: '7' }, { client_id: 0 }, { client_id: -1.5 }, { client_external_id: 'x' }, { client_id: '7', client_name: 'N', client_external_id: 'x' }]) {
    const record = { ...without(client, 'client_id'), ...identifier }
    t.match(checkUserInformation(record, 'partner'), record)
    t.ok(Check(schema as never, record), 'and for the schema')
    t.match(checkUserInformation(record, 'client'), record)
  }
})

t.test('a client_id of another kind is none, for the schema as well', async (t) => {
  for (const client_id of [null, true, {}, ['7']]) {
    const record = { ...client, client_id }
    t.throws(() => checkUserInformation(record, 'partner'), /client_id/)
    t.notOk(Check(schema as never, record))
  }
})

t.test('each broken rule is named, without a word of the record', async (t) => {
  const cases: [unknown, 'partner' | 'client', RegExp][] = [
    ['hush', 'partner', /it must be an object/],
    [true, 'partner', /it must be an object/],
    [[], 'partner', /external_id must be a non-empty string/],
    [{ ...partner, external_id: 17 }, 'partner', /external_id must be a non-empty string/],
    [{ ...partner, email: '' }, 'partner', /email must be a non-empty string/],
    [without(partner, 'name'), 'partner', /name must be a non-empty string/],
    [{ ...partner, product_role: 'hush' }, 'partner', /product_role must be "Product Operator" or "Product Read Only"/],
    [{ ...partner, type: 'hush' }, 'partner', /type must be "partner" or "client"/],
    [{ ...partner, control_role: 'Client Read Only' }, 'partner', /control_role must be "Partner Administrator" or "Partner Read Only" where type is "partner"/],
    [{ ...client, control_role: 'Partner Read Only' }, 'partner', /control_role must be "Client Administrator" or "Client Read Only" where type is "client"/],
    [partner, 'client', /type must be "client" at the client level/],
    [{ ...partner, client_id: 'hush' }, 'partner', /client_id must be absent where type is "partner"/],
    [{ ...partner, client_name: null }, 'partner', /client_name must be absent/],
    [{ ...partner, client_external_id: '' }, 'partner', /client_external_id must be absent/],
    [{ ...client, client_id: '' }, 'partner', /client_id must be a non-empty string or a number/],
    [{ ...client, client_id: NaN }, 'partner', /client_id must be a non-empty string or a number/],
    [{ ...client, client_id: null }, 'partner', /client_id must be a non-empty string or a number/],
    [{ ...client, client_name: 1 }, 'partner', /client_name must be a non-empty string/],
    [{ ...client, client_external_id: {} }, 'partner', /client_external_id must be a non-empty string/],
    [without(client, 'client_id'), 'partner', /client_id or client_external_id is needed for a client user at the partner level/]
  ]
  for (const [record, level, message] of cases) {
    const error = t.throws(() => checkUserInformation(record, level), message) as Error
    t.notMatch(error.message, /hush|a@b/)
    t.equal(error.name, 'UserInformationError')
  }
})

t.test('what leaves is what was checked', async (t) => {
  let reads = 0
  const record = { ...client, get email () { return reads++ === 0 ? 'a@b' : 17 }, unlisted: 'x', toJSON: () => ({}) }
  t.equal(JSON.stringify(checkUserInformation(record, 'partner')), JSON.stringify({
    external_id: '1', email: 'a@b', name: 'A', type: 'client', client_id: 7, control_role: 'Client Administrator', product_role: 'Product Operator'
  }))
})

t.test('the schema names both kinds', async (t) => {
  t.strictSame(schema.anyOf.map(({ type, properties }) => [type, properties.type]), [['object', { const: 'partner' }], ['object', { const: 'client' }]])
})

t.test('the schema says the same, in the eyes of TypeBox', async (t) => {
  const text = fc.oneof(fc.constant('x'), fc.constant(''), fc.constant(1), fc.constant(null))
  const field = fc.option(text, { nil: undefined })
  const records = fc.record({
    external_id: field,
    email: fc.constant('a@b'),
    name: field,
    type: fc.constantFrom('partner', 'client', 'other', undefined),
    control_role: fc.constantFrom('Partner Administrator', 'Partner Read Only', 'Client Administrator', 'Client Read Only', 'other'),
    product_role: fc.constantFrom('Product Operator', 'Product Read Only', 'other'),
    client_id: fc.option(fc.oneof(text, fc.double(), fc.object()), { nil: undefined }),
    client_name: field,
    client_external_id: field
  })
  const valid = fc.constantFrom(...[partner, client]).chain((base) => fc.record({
    client_id: fc.constantFrom(undefined, 'x', 7), client_name: fc.constantFrom(undefined, 'x'), client_external_id: fc.constantFrom(undefined, 'x', '')
  }).map((fields) => ({ ...base, ...fields })))

  const seen = { accepted: 0, refused: 0 }
  fc.assert(fc.property(fc.oneof(records, valid), (given) => {
    const record = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    const ours = accepts(record, 'partner') || accepts(record, 'client')
    seen[ours ? 'accepted' : 'refused']++
    return Check(schema as never, record) === ours
  }), { numRuns: 20_000 })
  t.ok(seen.accepted > 1000 && seen.refused > 1000, 'both kinds were seen')
})

function accepts (record: unknown, level: 'partner' | 'client'): boolean {
  try {
    checkUserInformation(record, level)
    return true
  } catch {
    return false
  }
}
