// A secret is hidden in whatever encoding it travels, and the text around it stays readable.
import t from 'tap'
import { escape, escapeJson } from '../../lib/flow/escape.ts'
import { Secrets } from '../../lib/flow/masking.ts'

/** Its Base64 has a `+` and a `/`: Base64url is another text. */
const SECRET = 'Aé &<>"\'+/\\%=S3cret🔑?>~¿ÿ!!'

function hide (text: string, values: string[]): string {
  const secrets = new Secrets()
  for (const value of values) secrets.addForGood(value)
  return secrets.mask(text)
}

const percent = (text: string): string =>
  Buffer.from(text).toString('hex').replace(/../g, (byte) => `%${byte}`)
const unicode = (text: string): string =>
  text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const references = (text: string): string => [...text].map((one) => `&#${one.codePointAt(0)};`).join('')
const hexReferences = (text: string): string =>
  [...text].map((one) => `&#X00${one.codePointAt(0)?.toString(16)}`).join('')
const json = (text: string): string => JSON.stringify(text).slice(1, -1)
const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  .replaceAll('"', '&quot;').replaceAll('\'', '&apos;').replaceAll('+', '&plus;')
const form = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2)

const ENCODINGS: Record<string, (text: string) => string> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  'lower case': (text) => text.toLowerCase(),
  'component of a URL': encodeURIComponent,
  'every byte in percent': percent,
  'percent in upper case': (text) => percent(text).toUpperCase(),
  form,
  json,
  'every character as \\u': unicode,
  html,
  'references by number': references,
  'references in hex, without semicolon': hexReferences,
  'JSON in HTML': (text) => html(json(text)),
  'a form in JSON in HTML': (text) => html(json(form(text))),
  'references of references': (text) => html(references(text)),
  'percent twice': (text) => encodeURIComponent(percent(text)),
  Base64: (text) => Buffer.from(text).toString('base64'),
  Base64url: (text) => Buffer.from(text).toString('base64url'),
  'Base64 in a form': (text) => form(Buffer.from(text).toString('base64')),
  hex: (text) => Buffer.from(text).toString('hex')
}

await t.test('each encoding gives another text', (t) => {
  const texts = new Map(Object.entries(ENCODINGS).map(([name, encode]) => [encode(SECRET), name]))
  t.strictSame([...texts.values()], Object.keys(ENCODINGS))
  t.end()
})

for (const [name, encode] of Object.entries(ENCODINGS)) {
  await t.test(name, (t) => {
    t.equal(hide(`(${encode(SECRET)}) & more`, ['another', SECRET]).replace(/=+\)/, ')'), '(••••••••) & more')
    t.end()
  })
}

await t.test('within a longer text in Base64 or hex, wherever it begins', (t) => {
  for (const encoding of ['base64', 'base64url', 'hex'] as const) {
    for (const around of ['', 'x', 'xy', 'xyz']) {
      for (const after of ['', 'x', 'xy']) {
        const text = Buffer.from(`${around}${SECRET}${after}`).toString(encoding)
        const shown = hide(text, [SECRET])
        t.match(shown, '••••••••', `${encoding}: ${around}…${after}`)
        const rest = shown.split('••••••••')
        t.ok(rest.every((part) => part.length <= 9), `${encoding}: ${around}…${after}: ${shown}`)
      }
    }
  }
  t.end()
})

await t.test('encoded again and again', (t) => {
  for (const [first, again] of [[percent, encodeURIComponent], [html, html], [references, html]] as const) {
    let text = first(SECRET)
    for (let times = 1; times <= 5; times++, text = again(text)) t.equal(hide(text, [SECRET]), '••••••••', text)
  }
  t.end()
})

await t.test('twice in a text, in parts of each other, and not at all', (t) => {
  t.equal(hide('one-secret, one-secret', ['one-secret']), '••••••••, ••••••••')
  t.equal(hide('one-secret', ['one-secret', 'secret']), '••••••••')
  const text = '50% of &unknown; &#99999999; \\q &amp; %zz'
  t.equal(hide(text, ['one-secret']), text)
  t.equal(hide(text, []), text)
  t.end()
})

await t.test('a short secret is hidden as a word', (t) => {
  t.equal(hide('the secret is “et”: et, bet, etc', ['et']), 'the secret is “••••••••”: ••••••••, bet, etc')
  t.end()
})

await t.test('backslashes, however many there are in the text', (t) => {
  for (const secret of ['\\\\\\\\', 'C:\\\\\\\\key', '\\\\\\\\key', 'key\\\\\\\\']) {
    for (const encode of [
      (text: string) => text, json, (text: string) => json(json(text)), percent, unicode, references,
      (text: string) => text.replaceAll('\\', '\\x5C'), (text: string) => text.replaceAll('\\', '&bsol;')
    ]) {
      t.equal(hide(`(${encode(secret)})`, [secret]), '(••••••••)', encode(secret))
    }
    t.equal(hide(`(${'\\'.repeat(100)}${secret})`, [secret]).endsWith('••••••••)'), true, `behind others: ${secret}`)
  }
  t.end()
})

/** Milliseconds of the processor that hiding a secret in a quarter of a megabyte takes. */
function cost (secret: string, repeated: string): number {
  const text = repeated.repeat(262_144 / repeated.length)
  const start = process.cpuUsage()
  hide(text, [secret])
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

await t.test('no text costs more than its size: nothing is tried in two ways', (t) => {
  const secrets = [
    '\\\\\\\\key', 'aaaaaaaaaaaaaaaaaaaaaaab', '""""""""""""b', '%%%%%%%%%%%%b', '&&&&&&&&&&&&b', '\\a\\a\\a\\ab'
  ]
  const texts = [
    '\\', '\\\\\\u0061', '\\\\\\\\\\\\x22', '%25', '%2525', '&amp;', '&amp;amp', '&#0', 'a', '"', '\\"', '%5c', '\\a'
  ]
  for (const secret of secrets) {
    for (const text of texts) t.ok(cost(secret, text) < 1500, `${secret} in ${text}${text}…`)
  }
  t.end()
})

await t.test('characters that control a terminal, or are invisible, are escaped: one of each kind', (t) => {
  const controls = ['\0', '\b', '\t', '\r', '\x1b', '\x7f', '\x80', '\x9b', '\x9f']
  const invisible = ['\u00ad', '\u200b', '\u200f', '\u202e', '\u2066', '\ufeff', '\u{e0001}', '\ud800', '\udc00']
  for (const character of [...controls, ...invisible, '\u2028', '\u2029']) {
    for (const text of [escape(`a${character}b`), escapeJson(JSON.stringify(`a${character}b`)).slice(1, -1)]) {
      t.match(text, /^a\\[a-z][\x20-\x7e]*b$/, text)
      t.equal(JSON.parse(`"${text}"`), `a${character}b`, text)
    }
  }
  t.equal(escapeJson('{\n}'), '{\n}')
  t.equal(escape('é€🔑~'), 'é€🔑~', 'what is visible stays')
  t.end()
})
