// The grant as text.
import fc from 'fast-check'
import t from 'tap'
import { decodeGrant, encodeGrant } from '../../lib/grants/grant.ts'
import { seed } from '../helpers/seed.ts'

const grant = { clientId: 'portal-1', level: 'partner' as const, codeChallenge: '', externalId: 'u-1', record: '{}' }

t.test('an external_id of any characters survives', async (t) => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n', '"', '\\', '\ud800', '\u2028', ''))
  fc.assert(fc.property(text, fc.constantFrom('partner' as const, 'client' as const), (externalId, level) => {
    const given = { ...grant, level, externalId, record: JSON.stringify({ external_id: externalId }) }
    t.strictSame(decodeGrant(encodeGrant(given)), given)
  }), { numRuns: 200, seed })
})

t.test('the record is the same text, not parsed and written again', async (t) => {
  const record = '{"external_id":"u-1", "client_id":1e3}'
  t.equal(decodeGrant(encodeGrant({ ...grant, codeChallenge: 'c'.repeat(43), record })).record, record)
})
