// Which host names are those of a private network: an address of the app there is advice, and no fault.
import t from 'tap'
import { isPrivate } from '../../lib/check/address.ts'

const PRIVATE = [
  'localhost', 'app', '127.0.0.1', '10.0.0.1', '192.168.0.1', '172.16.0.1', '172.20.0.1', '172.31.255.255', '[::1]',
  'app.local', 'app.localhost', 'app.internal', 'app.test', 'app.lan'
]
const PUBLIC = [
  'partner.example', '11.0.0.1', '192.169.0.1', '172.15.0.1', '172.32.0.1', '10.partner.example', 'local.example'
]

t.test('names, and the addresses of RFC 1918 to their bounds', async (t) => {
  t.strictSame(PRIVATE.filter((name) => !isPrivate(name)), [])
  t.strictSame(PUBLIC.filter(isPrivate), [])
})
