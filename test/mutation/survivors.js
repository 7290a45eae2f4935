// Mutants that no test can tell from the original, each with the reason.
const MEMORY = 'it only lets go of memory'
const ONE_PLACE = 'how many, how long: a matter of speed, to the last one'
const SAME = 'the same result'

// The third text, where there is one, tells the line from others with the same mutant.
const of = (path, reason, ...mutants) => mutants.map(([original, mutated, line = '']) => ({ path, original, mutated, line, reason }))

export const survivors = [
  ...of('lib/deadline.ts', MEMORY,
    ['this.#forgetSettled()', ''],
    ['first.next = undefined', '']),
  ...of('lib/deadline.ts', 'the timer is armed for no time at all, and it is due then',
    ['next.at > now', 'next.at >= now']),
  ...of('lib/grant.ts', 'a record begins with its external_id, and only the first match counts',
    ['/^\\{"external_id":("(?:[^"\\\\]|\\\\.)+")/', '/\\{"external_id":("(?:[^"\\\\]|\\\\.)+")/']),
  ...of('lib/options.ts', 'the name of a symbol, which nobody sees',
    ["'secret'", "''"]),
  ...of('lib/parameters.ts', ONE_PLACE,
    ['/[%+]/', '/[^%+]/'],
    ['!/[%+]/.test(encoded)', 'false'],
    ['this.malformed', 'false']),
  ...of('lib/parameters.ts', SAME,
    ["'utf8'", "''"]),
  ...of('lib/portal.ts', 'the length of a value that nothing is equal to',
    ['32', '31'],
    ['32', '33']),
  ...of('lib/portal.ts', 'one comparison more, with the value that nothing is equal to',
    ['index < this.#mostSecrets', 'index <= this.#mostSecrets']),
  ...of('lib/sealing.ts', ONE_PLACE,
    ['128', '129'],
    ['128', '127'],
    ['drawn === pool.length', 'true']),
  ...of('lib/sealing.ts', 'what it is overwritten with does not matter',
    ['0', '1', 'pool.fill(']),
  ...of('lib/sealing.ts', SAME,
    ["'utf8'", "''"],
    ['ADDRESS_BYTES + SEALING_KEY_BYTES', 'ADDRESS_BYTES - SEALING_KEY_BYTES']),
  ...of('lib/stores/expiring-records.ts', ONE_PLACE,
    ['1024', '1025'],
    ['1024', '1023'],
    ['1000', '1001'],
    ['1000', '999']),
  ...of('lib/stores/expiring-records.ts', MEMORY,
    ['this.before = this.after = this', '']),
  ...of('lib/stores/expiring-records.ts', 'the timer that is left does not keep the process, and finds nothing to do',
    ['clearTimeout(this.#timer)', '']),
  ...of('lib/stores/expiring-records.ts', 'keys spread otherwise over the shards; that they spread is shown by faults/memory, which takes too long here',
    ['0', '1', 'let hash'],
    ['0', '1', 'let index'],
    ['31', '32'],
    ['31', '30'],
    ['index < key.length', 'index <= key.length'],
    ['index < key.length', 'index >= key.length'])
]
