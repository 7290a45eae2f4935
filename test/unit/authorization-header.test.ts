// The Authorization header in Node's list of names and values, one after the other.
import t from 'tap'
import { basicCredentials, bearerToken, isAuthorizationRepeated } from '../../lib/http/authorization-header.ts'

t.test('a header that came twice, in any case', async (t) => {
  t.ok(isAuthorizationRepeated({ rawHeaders: ['Authorization', 'a', 'Host', 'h', 'AUTHORIZATION', 'b'] }))
  t.notOk(isAuthorizationRepeated({ rawHeaders: ['Authorization', 'a', 'Host', 'h'] }))
  t.notOk(isAuthorizationRepeated({ rawHeaders: [] }))
})

t.test('neither a value of that name nor another name as long counts', async (t) => {
  t.notOk(isAuthorizationRepeated({ rawHeaders: ['authorization', 'authorization', 'x-note', 'authorization'] }))
  t.notOk(isAuthorizationRepeated({ rawHeaders: ['authorization', 'a', 'x-thirteen-it', 'b'] }))
})

const basic = (authorization: string | undefined) =>
  basicCredentials({ headers: authorization === undefined ? {} : { authorization } })

t.test('HTTP Basic, split at the first colon, both parts form-decoded', async (t) => {
  const encode = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  t.strictSame(basic(encode('a:b')), { clientId: 'a', clientSecret: 'b' })
  t.strictSame(basic(encode('a%3Ab:c+d:%C3%A9')), { clientId: 'a:b', clientSecret: 'c d:é' })
  t.strictSame(basic(encode(':')), { clientId: '', clientSecret: '' })
  t.strictSame(basic('bASIC   YTpi'), { clientId: 'a', clientSecret: 'b' })
  for (const malformed of ['Basic', 'Basic ', 'Basic !', 'Basic YTpi YTpi', encode('no colon'), encode('%zz:b'),
    encode('a:%zz'), 'Basic YTpi===']) t.equal(basic(malformed), null, malformed)
  for (const other of [undefined, '', 'Basicx YTpi', 'Bearer YTpi', 'XBasic YTpi']) {
    t.equal(basic(other), undefined, String(other))
  }
})

t.test('a Bearer token', async (t) => {
  const bearer = (authorization: string) => bearerToken({ headers: { authorization } })
  t.equal(bearer('Bearer a-._~+/9=='), 'a-._~+/9==')
  t.equal(bearer('bEARER  a'), 'a')
  for (const malformed of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer =', 'Bearer a,b', 'Bearer "a"']) {
    t.equal(bearer(malformed), null, malformed)
  }
  for (const other of ['', 'Bearerx a', 'Basic YTpi', 'XBearer a']) t.equal(bearer(other), undefined, other)
  t.equal(bearerToken({ headers: {} }), undefined)
})
