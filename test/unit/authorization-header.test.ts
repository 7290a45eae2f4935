// The Authorization header in Node's list of names and values, one after the other.
import t from 'tap'
import { isAuthorizationRepeated } from '../../lib/http/authorization-header.ts'

t.test('a header that came twice, in any case', async (t) => {
  t.ok(isAuthorizationRepeated({ rawHeaders: ['Authorization', 'a', 'Host', 'h', 'AUTHORIZATION', 'b'] }))
  t.notOk(isAuthorizationRepeated({ rawHeaders: ['Authorization', 'a', 'Host', 'h'] }))
  t.notOk(isAuthorizationRepeated({ rawHeaders: [] }))
})

t.test('neither a value of that name nor another name as long counts', async (t) => {
  t.notOk(isAuthorizationRepeated({ rawHeaders: ['authorization', 'authorization', 'x-note', 'authorization'] }))
  t.notOk(isAuthorizationRepeated({ rawHeaders: ['authorization', 'a', 'x-thirteen-it', 'b'] }))
})
