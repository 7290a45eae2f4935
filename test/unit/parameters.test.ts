// Parameters of a query and of a form: empty, repeated, too many, malformed; and what may not stand in a query as is,
// encoded so that its value stays the same.
import t from 'tap'
import { Parameters, queryOf, safeInQuery } from '../../lib/http/parameters.ts'

type Flags = Partial<Pick<Parameters, 'repeated' | 'excessive' | 'malformed'>>

const most = Array.from({ length: 999 }, (_, index) => `p${index}=${index}`).join('&')

/** A text, values of its parameters, and what else is true of it. */
const texts: Array<[text: string, values: Record<string, string | undefined>, flags?: Flags]> = [
  ['a=&b&c=1&&d=%41+x&d=2&=3', { a: undefined, b: undefined, c: '1', nothing: undefined }, { repeated: true }],
  ['a=b=c', { a: 'b=c' }],
  ['a=0&b=false&c=+', { a: '0', b: 'false', c: ' ' }],
  ['__proto__=1&a=2', { ['__proto__']: '1', constructor: undefined, toString: undefined, a: '2' }],
  ['plain=as%20it+is&a+b=1&c%64=plain&plus=%2B+', { plain: 'as it is', 'a b': '1', cd: 'plain', plus: '+ ' }],
  // What is not broken is read all the same, names too: a repeated one is found beside a broken escape.
  ['a=%C3&b=%A9', {}, { malformed: true }],
  ['a=\ufffd', {}, { malformed: true }],
  [
    'broken=%zz&a=x+y+z&b=%4a%4B%3d&c=%c3%a4&%64=1',
    { a: 'x y z', b: 'JK=', c: 'ä', d: '1', broken: '%zz' },
    { malformed: true }
  ],
  ['a=1&broken=%&%61=2', {}, { malformed: true, repeated: true }],
  ['?a=1&??b=2', { a: undefined, '?a': '1', '??b': '2' }],
  [`${most}&&last=1&`, { last: '1' }],
  [`${most}&last=1&more=1`, { last: '1', more: undefined }, { excessive: true }]
]

t.test('values, repetitions, limits and broken encodings', async (t) => {
  for (const [text, values, flags] of texts) {
    const parameters = new Parameters(text)
    const { repeated, excessive, malformed } = parameters
    const expected = { repeated: false, excessive: false, malformed: false, ...flags }
    t.strictSame({ repeated, excessive, malformed }, expected, text.slice(0, 100))
    for (const [name, value] of Object.entries(values)) t.equal(parameters.get(name), value, `${name} of ${text}`)
  }
})

t.test('which parameters there are, and how they were encoded', async (t) => {
  const parameters = new Parameters('a=&b&c=a%20b+c&d=1&d=')
  const has = ['a', 'b', 'c', 'd', 'nothing'].filter((name) => parameters.has(name))
  t.strictSame(has, ['c', 'd'], 'one of them had a value')
  t.strictSame(['c', 'd', 'nothing'].map((name) => parameters.isRepeated(name)), [false, true, false])
  t.equal(parameters.raw('c'), 'a%20b+c')
  t.equal(queryOf('/path'), '')
  t.equal(queryOf('/path?a?b'), 'a?b')
})

t.test('what would end or change a query is encoded, everything else left as it is', async (t) => {
  t.equal(safeInQuery('漢\u{1f600}'), '%E6%BC%A2%F0%9F%98%80', 'a character, where a server hands on characters')
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte)
    const isSafe = byte > 0x20 && byte < 0x7f && !'"#<>'.includes(character)
    const escape = `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    t.equal(safeInQuery(`a${character}b`), isSafe ? `a${character}b` : `a${escape}b`, escape)
  }
})
