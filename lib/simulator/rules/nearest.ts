import type { Severity } from './errors.ts'

/** A value that a service must refuse, and in what it differs from the right one. */
export interface Wrong {
  how: string
  value: string
  /** Severity where a service accepts it. Default: that of the rule. */
  severity?: Severity
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The character of base64url in which these bits differ; undefined for others. */
const flipped = (character: string, bits: number): string | undefined =>
  BASE64URL[BASE64URL.indexOf(character) ^ bits]

/** Another character. In base64url its first bit differs: the last bits may be unused. */
export const otherCharacter = (character: string): string => flipped(character, 32) ?? 'x'

const changed = (text: string): string => Array.from(text, otherCharacter).join('')
const reversed = (text: string): string => Array.from(text).reverse().join('')

const otherCase = (text: string): string => Array.from(text, (character) => {
  const upper = character.toUpperCase()
  return character === upper ? character.toLowerCase() : upper
}).join('')

/** The full-width form of a character: NFKC normalization makes both the same. */
const fullWidth = (character: string): string =>
  String.fromCharCode(character.charCodeAt(0) + 0xfee0)

/** Every byte as `%XX`. */
const percentEncoded = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** The values that differ from the right one. The key says how. */
const wrongOnes = (values: Record<string, string>, right: string): Wrong[] =>
  Object.entries(values).map(([how, value]) => ({ how, value }))
    .filter(({ value }) => value !== right)

/** The wrong values nearest to a right one: a service that compares whole texts refuses each. */
export function nearest (value: string): Wrong[] {
  const half = Math.ceil(value.length / 2)
  const [start, end] = [value.slice(0, half), value.slice(half)]
  const [cut, rest] = [value.slice(0, -1), value.slice(1)]
  return wrongOnes({
    // A comparison that sees only a part of the value.
    'without the last character': cut,
    'without the first character': rest,
    'the first half only': start,
    'with one more character': `${value}x`,
    'with one more character in front': `x${value}`,
    'twice in one value': value + value,
    'as the first of a list': `${value},x`,
    'with its characters in another order': reversed(value),
    'with another first character': changed(value.slice(0, 1)) + rest,
    'with another character in the middle': start + changed(end.slice(0, 1)) + end.slice(1),
    'with another last character': cut + changed(value.slice(-1)),
    'with another first half': changed(start) + end,
    'with another second half': start + changed(end),
    // A conversion before the comparison.
    'in another case': otherCase(value),
    'with an accent': value.replace(/[aeiou]/i, '$&\u0301').normalize('NFC'),
    'with a letter in full width': value.replace(/[a-z\d]/i, fullWidth),
    'percent-encoded once more': percentEncoded(value),
    'with a space for each +': value.replaceAll('+', ' '),
    'with + for each space': value.replaceAll(' ', '+'),
    'as Base64': Buffer.from(value).toString('base64'),
    'with a space in front': ` ${value}`,
    'with a space at the end': `${value} `,
    'with a line break at the end': `${value}\n`,
    'with a NUL and more at the end': `${value}\0x`,
    // Patterns of SQL, file names and regular expressions.
    'with % in place of the last character': `${cut}%`,
    // Not the last character: a decoder ignores its unused bits.
    'with _ in place of the first character': `_${rest}`,
    'with * in place of the last character': `${cut}*`,
    'with . in place of the last character': `${cut}.`
  }, value)
}

/** Other texts that a decoder of Base64, URLs or JWT may decode to the same value. */
export const respelt = (text: string): Wrong[] => wrongOnes({
  'with = at the end': `${text}=`,
  'with == at the end': `${text}==`,
  'with another unused bit': text.slice(0, -1) + (flipped(text.slice(-1), 1) ?? text.slice(-1)),
  'with the letters of Base64': text.replaceAll('-', '+').replaceAll('_', '/'),
  'with a dot at the end': `${text}.`,
  'in capitals': text.toUpperCase(),
  'in small letters': text.toLowerCase()
}, text)

export const wordsOf = (values: readonly string[]): Wrong[] =>
  values.map((value) => ({ how: `as ${JSON.stringify(value)}`, value }))

/** Values that are never right. A careless lookup in an object, or a query, may accept them. */
export const NEVER_RIGHT: readonly Wrong[] = wordsOf([
  'undefined', 'null', 'true', '0', '-1', 'NaN', '[object Object]',
  'constructor', '__proto__', 'toString', '*', '%', '.*',
  '\' OR \'1\'=\'1', '" OR ""="', '../', '\0'
])

/** `{uri}` is `{start}{end}`: `scheme://host` with the port, then the path with the query. */
const URIS: Record<string, string> = {
  'of another host': 'https://foreign.example/callback',
  'with a longer path': '{uri}/more',
  'with one more character': '{uri}x',
  'without the last character': '{cut}',
  'without its path': '{start}/',
  'of the folder above': '{start}{folder}',
  'with one more parameter': '{uri}{and}more=1',
  'with a code of its own': '{uri}{and}code=more',
  'with a fragment': '{uri}#more',
  'with user information': '{scheme}://foreign.example@{host}{port}{end}',
  'as user information': '{start}@foreign.example{end}',
  'behind a backslash': '{scheme}://foreign.example\\@{host}{port}{end}',
  'with a slash at the end': '{start}{slashed}{query}',
  'with a double slash': '{start}/{end}',
  'with /x/../': '{start}/x/..{end}',
  'with /./': '{start}/.{end}',
  'with an encoded /x/../': '{start}/x/%2e%2e{end}',
  'with /../ at the end': '{uri}/../more',
  'with an encoded /../ at the end': '{uri}/%2e%2e%2fmore',
  'with path parameters': '{start}{path};more{query}',
  'with a NUL at the end': '{start}{path}%00{query}',
  'with a NUL and more at the end': '{uri}\0x',
  'of a development server': '{development}',
  'with a path in another case': '{start}{otherCase}{query}',
  'with an encoded letter': '{start}{encoded}{query}',
  'encoded once more': '{component}',
  'with a scheme in capitals': '{SCHEME}://{host}{port}{end}',
  'with a host in capitals': '{scheme}://{HOST}{port}{end}',
  'with a dot after the host': '{scheme}://{host}.{port}{end}',
  'with the default port': '{scheme}://{host}{defaultPort}{end}',
  'of another port': 'https://{host}:1{end}',
  'of another scheme': '{otherScheme}://{host}{port}{end}',
  'of a host that begins with it': '{start}.foreign.example{end}',
  'of a host that ends with it': '{scheme}://foreign{host}{port}{end}',
  'of a host below it': '{scheme}://foreign.{host}{port}{end}',
  'as the first of a list': '{uri},https://foreign.example/',
  'as a parameter of another host': 'https://foreign.example/?{uri}',
  'with a space in front': ' {uri}',
  'with a space at the end': '{uri} ',
  'with a line break at the end': '{uri}\n'
}

type Part = 'scheme' | 'host' | 'port' | 'path' | 'query'
const PARTS =
  /^(?<scheme>[^:]*):\/*(?<host>[^:/?#]*)(?<port>[^/?#]*)(?<path>[^?#]*)(?<query>.*)$/

/**
 * Redirection addresses nearest to the registered one. RFC 9700 §2.1 demands a comparison of whole
 * texts; only the port of http on this machine may differ (RFC 8252 §7.3), so none of these differs
 * in that alone.
 */
export function nearestUris (registered: string): Wrong[] {
  const parts = PARTS.exec(registered)?.groups as Record<Part, string>
  const { scheme, host, port, path, query } = parts
  const [otherScheme, usualPort] = scheme === 'https' ? ['http', ':443'] : ['https', ':80']
  const values: Record<string, string> = {
    ...parts,
    uri: registered,
    cut: registered.slice(0, -1),
    start: `${scheme}://${host}${port}`,
    end: path + query,
    folder: path.slice(0, path.lastIndexOf('/') + 1),
    slashed: path.endsWith('/') ? path.slice(0, -1) : `${path}/`,
    otherCase: otherCase(path),
    encoded: path.replace(/(?<!%.?)[a-z]/i, percentEncoded),
    component: encodeURIComponent(registered),
    and: query.startsWith('?') ? '&' : '?',
    SCHEME: scheme.toUpperCase(),
    HOST: host.toUpperCase(),
    otherScheme,
    development: scheme === 'http' ? registered : `http://localhost:3000${path}${query}`,
    defaultPort: port === '' ? usualPort : port
  }
  const filled = (template: string): string =>
    template.replace(/\{(\w+)\}/g, (_all, name: string) => values[name] as string)
  const uris = Object.entries(URIS).map(([how, template]) => [how, filled(template)])
  const dots = [...registered.matchAll(/\./g)].map(({ index }): Wrong => ({
    how: 'with a letter in place of a dot',
    value: `${registered.slice(0, index)}x${registered.slice(index + 1)}`
  }))
  return [...wrongOnes(Object.fromEntries(uris), registered), ...dots]
}
