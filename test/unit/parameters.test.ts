// Parameters of a query and of a form: empty, repeated, too many, malformed; and what may not stand in a query as is,
// encoded so that its value stays the same.
import t from 'tap'
import { Parameters, queryOf, safeInQuery } from '../../lib/http/parameters.ts'

t.test('what would end or change a query is encoded, everything else left as it is', async (t) => {
  t.equal(safeInQuery('a%20b+c%E4/?:@!$\'()*,;=-._~'), 'a%20b+c%E4/?:@!$\'()*,;=-._~')
  t.equal(safeInQuery('a#b"c<d>e f\r\n'), 'a%23b%22c%3Cd%3Ee%20f%0D%0A')
  t.equal(safeInQuery('\xe4'), '%E4', 'a byte of the request line')
  t.equal(safeInQuery('\xff'), '%FF', 'the last of them')
  t.equal(safeInQuery('漢\u{1f600}'), '%E6%BC%A2%F0%9F%98%80', 'a character, where a server hands on characters')
})

t.test('empty, absent and repeated parameters', async (t) => {
  const parameters = new Parameters('a=&b&c=1&&d=%41+x&d=2&=3')
  t.equal(parameters.get('a'), undefined)
  t.equal(parameters.get('b'), undefined)
  t.equal(parameters.get('c'), '1')
  t.equal(parameters.get('nothing'), undefined)
  t.equal(parameters.raw('nothing'), undefined)
  t.equal(parameters.isRepeated('d'), true)
  t.equal(parameters.isRepeated('c'), false)
  const values = { a: false, b: false, c: true, d: true, nothing: false }
  for (const [name, has] of Object.entries(values)) t.equal(parameters.has(name), has, name)
  t.equal(new Parameters('a=1&a=').has('a'), true, 'one of them had a value')
  t.equal(parameters.repeated, true)
  t.equal(parameters.malformed, false)
  t.equal(new Parameters('a=%zz&b=%41').get('b'), 'A')
  t.equal(new Parameters('a=%zz').malformed, true)
  t.equal(new Parameters('a=++').get('a'), '  ', 'nothing but plus signs')
  t.equal(new Parameters('a=%2B').get('a'), '+', 'an escaped plus sign is none')
  t.equal(new Parameters('a=%%').malformed, true, 'nothing but percent signs')
  t.equal(new Parameters('a=b=c').get('a'), 'b=c', 'the first equals sign ends the name')
  t.equal(queryOf('/path'), '')
  t.equal(queryOf('/path?a?b'), 'a?b')
})

t.test('nothing between two ampersands is no parameter, and comes as often as it likes', async (t) => {
  const parameters = new Parameters('&&a=1&&&b=2&')
  t.equal(parameters.repeated, false)
  t.equal(parameters.raw(''), undefined)
  t.strictSame([parameters.get('a'), parameters.get('b')], ['1', '2'])
})

t.test('beside a broken part, what is ASCII is read all the same', async (t) => {
  const parameters = new Parameters('broken=%zz&a=x+y+z&b=%4a%4B%3d&c=%c3%a4&%64=1')
  t.equal(parameters.malformed, true)
  t.equal(parameters.get('a'), 'x y z')
  t.equal(parameters.get('b'), 'JK=')
  t.equal(parameters.get('c'), '%c3%a4')
  t.equal(parameters.get('d'), '1')
})

t.test('a name or value with a plus sign or an escape, and one with neither', async (t) => {
  const parameters = new Parameters('plain=as%20it+is&a+b=1&c%64=plain&plus=+')
  t.equal(parameters.get('plain'), 'as it is')
  t.equal(parameters.get('a b'), '1')
  t.equal(parameters.get('cd'), 'plain')
  t.equal(parameters.get('plus'), ' ')
  t.equal(parameters.raw('plain'), 'as%20it+is')
  t.equal(new Parameters('a=\ud800%41').get('a'), '\ud800A')
})

t.test('an encoding is broken between two parameters, not by them', async (t) => {
  t.equal(new Parameters('a=%C3&b=%A9').malformed, true)
  t.equal(new Parameters('a=%C3=%A9').malformed, true)
  t.equal(new Parameters('a=%C3%A9&b=%E2%82%AC').malformed, false)
  t.equal(new Parameters('&=&a&').malformed, false)
})

t.test('a thousand parameters are read, and no more', async (t) => {
  const many = Array.from({ length: 999 }, (_, index) => `p${index}=${index}`).join('&')
  const all = new Parameters(`${many}&&last=1&`)
  t.equal(all.excessive, false)
  t.equal(all.get('last'), '1')
  for (const text of [`${many}&last=1&more=1`, '&a'.repeat(1001)]) {
    t.equal(new Parameters(text).excessive, true)
    t.equal(new Parameters(text).has('more'), false)
  }
  t.equal(new Parameters('&'.repeat(5000)).excessive, false, 'empty ones do not count')
})

t.test('every byte that a query must not contain', async (t) => {
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte)
    const isSafe = byte > 0x20 && byte < 0x7f && !'"#<>'.includes(character)
    const escape = `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    t.equal(safeInQuery(`a${character}b`), isSafe ? `a${character}b` : `a${escape}b`, escape)
  }
})
