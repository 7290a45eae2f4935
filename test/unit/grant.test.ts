// The grant as text, and its age.
import fc from 'fast-check'
import t from 'tap'
import { decodeGrant, encodeGrant, isOutdated } from '../../lib/grants/grant.ts'
import { seed } from '../helpers/seed.ts'

const grant = {
  issuedAt: 1_700_000_000_000,
  clientId: 'portal-1',
  level: 'partner' as const,
  codeChallenge: '',
  externalId: 'u-1',
  record: '{"external_id":"u-1", "client_id":1e3}'
}

t.test('any grant survives, and its record is not written anew', async (t) => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n', '"', '\\', '\ud800', '\u2028', ''))
  fc.assert(fc.property(text, fc.constantFrom('partner' as const, 'client' as const), (externalId, level) => {
    const given = { ...grant, level, externalId }
    t.strictSame(decodeGrant(encodeGrant(given)), given)
  }), { numRuns: 200, seed })
  for (const other of ['', 'text', '1\np\npartner\n\nno JSON\n{}']) t.equal(decodeGrant(other), null)
})

t.test('older than its lifetime and five minutes by this clock: worth nothing', async (t) => {
  const { now } = Date
  t.teardown(() => { Date.now = now })
  Date.now = () => 1_000_000
  t.notOk(isOutdated(1_000_000 - 360_000, 60))
  t.ok(isOutdated(1_000_000 - 360_001, 60))
  t.notOk(isOutdated(2_000_000, 60), 'issued by a server whose clock is ahead')
})
