// The grant as text.
import fc from 'fast-check'
import t from 'tap'
import { decodeGrant, encodeGrant } from '../../lib/grants/grant.ts'
import { seed } from '../helpers/seed.ts'

const grant = {
  clientId: 'portal-1',
  level: 'partner' as const,
  codeChallenge: '',
  externalId: 'u-1',
  record: '"u-1"\n"ada@example"\n1e3'
}

t.test('any grant survives, and its record is not written anew', async (t) => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n', '"', '\\', '\ud800', '\u2028', ''))
  fc.assert(fc.property(text, fc.constantFrom('partner' as const, 'client' as const), (externalId, level) => {
    const given = { ...grant, level, externalId }
    t.strictSame(decodeGrant(encodeGrant(given)), given)
  }), { numRuns: 200, seed })
  for (const other of ['', 'text', 'p\npartner\n\nno JSON\n{}']) t.equal(decodeGrant(other), null)
})
