// Values that somebody else may have written to the store.
import t from 'tap'
import { StoredValue } from '../../lib/grants/stored-value.ts'

const fingerprint = (letter: string) => (text: string) => [`${letter}${text.length}`.padEnd(20, letter)]
const [mine, other] = [fingerprint('m'), fingerprint('o')]
const both = (text: string) => [...mine(text), ...other(text)]

t.test('a value has its text, and is proven by each process that shares a secret', async (t) => {
  const value = StoredValue.decode(StoredValue.encode('1_text', both), 60)
  t.match(value, { text: '1_text', count: 2 })
  t.ok(value?.isProvenBy(mine))
  t.ok(value?.isProvenBy(other))
  t.notOk(value?.isProvenBy(fingerprint('x')))
  t.notOk(value?.isProvenBy(() => []))
})

t.test('older than its lifetime and five minutes by this clock: worth nothing', async (t) => {
  const { now } = Date
  t.teardown(() => { Date.now = now })
  const at = (time: number) => { Date.now = () => time }
  at(1_000_000)
  const value = StoredValue.encode('text', mine)
  for (const [time, isValid] of [[1_360_000, true], [1_360_001, false], [0, true]] as const) {
    at(time)
    t.equal(StoredValue.decode(value, 60) !== null, isValid, String(time))
  }
  at(1_400_000)
  const dated = value.replace('1000000_', '1400000_')
  t.notOk(StoredValue.decode(dated, 60)?.isProvenBy((text) => mine(text.replace('1400000', '100000'))))
})

t.test('what cannot be a value of ours', async (t) => {
  const value = StoredValue.encode('text', mine)
  const counts = ['0', '', '-1', '1.5', '01', '12345', '9'.repeat(400)].map((count) => value.replace(/^1/, count))
  for (const forged of [null, '', '1_', value.slice(2), value.slice(0, 25), value.replace(/_/g, '-'), ...counts]) {
    t.equal(StoredValue.decode(forged, 60), null, String(forged))
  }
  const longest = 1024 * 1024
  t.ok(StoredValue.decode(value + 'A'.repeat(longest - value.length), 60))
  t.equal(StoredValue.decode(value + 'A'.repeat(longest - value.length + 1), 60), null)
})
