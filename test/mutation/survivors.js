// Mutants that behave as the original does, each with the reason: the mutation run leaves them out.
// A reason must be true for every input: that a case does not come up in the tests is none.
const MEMORY = 'only memory is released later'
const SPEED = 'only the speed changes'
const SAME = 'the result is the same'

// The third text, where there is one, tells the line from others with the same mutant.
const of = (path, reason, ...mutants) =>
  mutants.map(([original, mutated, line = '']) => ({ path, original, mutated, line, reason }))

export const survivors = [
  ...of('lib/stores/check.ts', 'a millisecond more or less to wait',
    ['1400', '1401'],
    ['1400', '1399']),
  ...of('lib/http/parameters.ts', SPEED,
    ['!/[%+]/.test(encoded)', 'false'],
    ["!encoded.includes('%')", 'false'],
    ["'%'", "''", "includes('%')"],
    ['!UNSAFE.test(encoded)', 'false']),
  ...of('lib/http/parameters.ts', SAME,
    // An empty part is skipped; `decode` leaves undefined as it is; no byte is 256; the buffer is longer than its text.
    ['start < text.length', 'start <= text.length'],
    ['raw === undefined', 'false', '#decode(raw)'],
    ['256', '257', 'const isUnsafe'],
    ['3', '4', 'allocUnsafe(3 * bytes.length)']),
  ...of('lib/http/parameters.ts', 'Node.js takes an empty encoding for utf8',
    ["'utf8'", "''"]),
  ...of('lib/portal.ts', 'the length of a random value that nothing is equal to',
    ['32', '31'],
    ['32', '33']),
  ...of('lib/grants/sealing.ts', SAME,
    // The hash has 86 characters: three are left.
    ['2 * NAME_LENGTH + SEALING_KEY_LENGTH', '2 * NAME_LENGTH - SEALING_KEY_LENGTH']),
  ...of('lib/grants/sealing.ts', 'the pool is overwritten with another value',
    ['0', '1', 'pool.fill(']),
  ...of('lib/grants/sealing.ts', 'Node.js takes an empty encoding for utf8',
    ["'utf8'", "''"]),
  ...of('lib/http/login-location.ts', 'the first match is at the beginning, even if it is empty',
    ['/^[/\\\\]*/', '/[/\\\\]*/']),
  ...of('lib/stores/expiring-records.ts', MEMORY,
    ['1000', '1001', 'const SWEEP_INTERVAL'],
    ['1000', '999', 'const SWEEP_INTERVAL'],
    ['this.before = this.after = this', '']),
  ...of('lib/stores/expiring-records.ts', 'Node.js takes a timer of 0 ms for one of 1 ms',
    ['0', '1', 'this.#sweepIn(0)']),
  ...of('lib/stores/expiring-records.ts', 'a timer that is left does not keep the process, and drops only what is over',
    ['clearTimeout(this.#timer)', '']),
  ...of('lib/simulator/check/examination.ts', 'a signal is aborted once',
    ['{ once: true }', '{}']),
  ...of('lib/stores/redis-command.ts', 'no state is compared with this one',
    ["'queued'", "''"]),
  ...of('lib/stores/redis-connection.ts', 'ioredis takes the defaults of its options from a second object as well',
    ["typeof target === 'string'", 'true']),
  ...of('lib/stores/memory.ts', SAME,
    // A promise for each call in place of one: all of them resolve in the same turn.
    ['turn ??= new Promise((resolve) => setImmediate(() => { turn = undefined resolve() }))',
      'turn = new Promise((resolve) => setImmediate(() => { turn = undefined resolve() }))']),
  ...of('lib/stores/memory.ts', 'no encrypted value is as short as this text',
    ["''", "'mutated'", 'REVOKED'])
]
