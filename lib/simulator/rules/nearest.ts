import type { Severity } from './errors.ts'

/** A value that a service must refuse, and in what it differs from the right one. */
export interface Wrong {
  how: string
  value: string
  /** Of a service that accepts it; the rule's own where none is given. */
  severity?: Severity
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Another character. Of base64url it has another first bit: the last bits of a text may be unused. */
export function otherCharacter (character: string): string {
  const index = BASE64URL.indexOf(character)
  return index === -1 ? 'x' : BASE64URL.charAt(index ^ 32)
}

const changed = (text: string): string => Array.from(text, otherCharacter).join('')

const otherCase = (text: string): string => Array.from(text, (character) => {
  const upper = character.toUpperCase()
  return character === upper ? character.toLowerCase() : upper
}).join('')

/** Every byte as `%XX`. */
const percentEncoded = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Differences that a comparison overlooks when it sees only a part of the value. */
function inPart (value: string): Wrong[] {
  const half = Math.ceil(value.length / 2)
  const [start, end] = [value.slice(0, half), value.slice(half)]
  const [first, last] = [value.charAt(0), value.charAt(value.length - 1)]
  const middle = value.charAt(half)
  return [
    { how: 'without the last character', value: value.slice(0, -1) },
    { how: 'without the first character', value: value.slice(1) },
    { how: 'the first half only', value: start },
    { how: 'with one more character', value: `${value}x` },
    { how: 'with one more character in front', value: `x${value}` },
    { how: 'twice in one value', value: value + value },
    { how: 'as the first of a list', value: `${value},x` },
    { how: 'with its characters in another order', value: Array.from(value).reverse().join('') },
    { how: 'with another first character', value: otherCharacter(first) + value.slice(1) },
    { how: 'with another character in the middle', value: start + changed(middle) + end.slice(1) },
    { how: 'with another last character', value: value.slice(0, -1) + otherCharacter(last) },
    { how: 'with another first half', value: changed(start) + end },
    { how: 'with another second half', value: start + changed(end) }
  ]
}

/** Differences that a conversion before the comparison removes. */
const converted = (value: string): Wrong[] => [
  { how: 'in another case', value: otherCase(value) },
  { how: 'with an accent', value: value.replace(/[aeiou]/i, '$&\u0301').normalize('NFC') },
  { how: 'percent-encoded once more', value: percentEncoded(value) },
  { how: 'with a space for each +', value: value.replaceAll('+', ' ') },
  { how: 'with + for each space', value: value.replaceAll(' ', '+') },
  { how: 'as Base64', value: Buffer.from(value).toString('base64') },
  { how: 'with a space in front', value: ` ${value}` },
  { how: 'with a space at the end', value: `${value} ` },
  { how: 'with a line break at the end', value: `${value}\n` },
  { how: 'with a NUL and more at the end', value: `${value}\0x` }
]

/** Patterns that match the value, in SQL, in file names, in regular expressions. */
const patterns = (value: string): Wrong[] => ['%', '_', '*', '.'].map((sign) =>
  ({ how: `with ${sign} in place of the last character`, value: value.slice(0, -1) + sign }))

/** The wrong values nearest to a right one: a service that compares whole texts refuses each. */
export const nearest = (value: string): Wrong[] =>
  [...inPart(value), ...converted(value), ...patterns(value)].filter((wrong) => wrong.value !== value)

/** Values that are right nowhere. A lookup in an object, a pattern or a query may find something for them. */
export const NOWHERE_RIGHT: readonly Wrong[] = [
  'undefined', 'null', 'true', '0', '-1', 'NaN', '[object Object]', 'constructor', '__proto__', 'toString',
  '*', '%', '.*', '\' OR \'1\'=\'1', '" OR ""="', '../', '\0'
].map((value) => ({ how: `as ${JSON.stringify(value)}`, value }))

/**
 * Redirection addresses nearest to the registered one. RFC 9700 §2.1 demands a comparison of whole texts; only the port
 * of http on this machine may differ (RFC 8252 §7.3), so none of these differs in that alone.
 */
export function nearestUris (registered: string): Wrong[] {
  const { origin, protocol, hostname, port, pathname } = new URL(registered)
  const withPath = (path: string): string => registered.replace(origin + pathname, origin + path)
  const withOrigin = (other: string): string => registered.replace(origin, other)
  const [scheme = ''] = registered.split('://')
  const more = registered.includes('?') ? '&' : '?'
  const letter = /(?<!%.?)[a-z]/i
  const ports: Record<string, string> = { 'https:': ':443', 'http:': ':80' }
  const dots = [...registered.matchAll(/\./g)].map(({ index }) => index)
  const uris: Array<[how: string, uri: string]> = [
    ['of another host', 'https://foreign.example/callback'],
    ['with a longer path', `${registered}/more`],
    ['with one more character', `${registered}x`],
    ['without the last character', registered.slice(0, -1)],
    ['without its path', `${origin}/`],
    ['of the folder above', withPath(pathname.slice(0, pathname.lastIndexOf('/') + 1))],
    ['with one more parameter', `${registered}${more}more=1`],
    ['with a code of its own', `${registered}${more}code=more`],
    ['with a fragment', `${registered}#more`],
    ['with user information', registered.replace('://', '://foreign.example@')],
    ['as user information', registered.replace(/^([^?#]*?:\/\/[^/?#]*)/, '$1@foreign.example')],
    ['behind a backslash', registered.replace('://', '://foreign.example\\@')],
    ['with a slash at the end', withPath(pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`)],
    ['with a double slash', withPath(`/${pathname}`)],
    ['with /x/../', withPath(`/x/..${pathname}`)],
    ['with /./', withPath(`/.${pathname}`)],
    ['with an encoded /x/../', withPath(`/x/%2e%2e${pathname}`)],
    ['with /../ at the end', `${registered}/../more`],
    ['with an encoded /../ at the end', `${registered}/%2e%2e%2fmore`],
    ['with path parameters', withPath(`${pathname};more`)],
    ['with a NUL at the end', withPath(`${pathname}%00`)],
    ['with a path in another case', withPath(otherCase(pathname))],
    ['with an encoded letter', withPath(pathname.replace(letter, percentEncoded))],
    ['encoded once more', encodeURIComponent(registered)],
    ['with a scheme in capitals', registered.replace(scheme, scheme.toUpperCase())],
    ['with a host in capitals', registered.replace(hostname, hostname.toUpperCase())],
    ['with a dot after the host', registered.replace(hostname, `${hostname}.`)],
    ['with the default port', port === '' ? withOrigin(origin + String(ports[protocol])) : registered],
    ['of another port', withOrigin(`https://${hostname}:${Number(port) + 1}`)],
    ['of another scheme', withOrigin(origin.replace(protocol, protocol === 'https:' ? 'http:' : 'https:'))],
    ['of a host that begins with it', withOrigin(`${origin}.foreign.example`)],
    ['of a host that ends with it', registered.replace(hostname, `foreign${hostname}`)],
    ['of a host below it', registered.replace(hostname, `foreign.${hostname}`)],
    ['as the first of a list', `${registered},https://foreign.example/`],
    ['as a parameter of another host', `https://foreign.example/?${registered}`],
    ['with a space in front', ` ${registered}`],
    ['with a space at the end', `${registered} `],
    ['with a line break at the end', `${registered}\n`],
    ...dots.map((at): [string, string] =>
      ['with a letter in place of a dot', `${registered.slice(0, at)}x${registered.slice(at + 1)}`])
  ]
  return uris.map(([how, value]) => ({ how, value })).filter(({ value }) => value !== registered)
}
