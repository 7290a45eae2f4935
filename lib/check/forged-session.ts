import { unescape } from 'node:querystring'
import { expect, Untested } from './rule.ts'
import { cookiesIn, enter, isIssued } from './session.ts'
import type { Subject } from './subject.ts'

/** Sessions that are counted: another login has the next number. */
const COUNTED = /^\d{1,9}$/

/** What somebody makes of a session: another text where it applies. */
const FORGERIES: Array<[how: string, forge: (text: string) => string]> = [
  ['with another number', (text) => text.replace(COUNTED, (number) => String(Number(number) - 1))],
  ['with another number', (text) => text.replace(COUNTED, (number) => String(Number(number) + 1))],
  ['with a made-up signature or identifier', (text) => text.replace(/[^.]+$/, (last) => 'A'.repeat(last.length))],
  ['without its signature', (text) => text.replace(/\.[^.]*$/, '')],
  ['with other content', (text) => withMember(text).replace(/eyJ[\w+/-]+/g, inBase64)]
]

const withMember = (json: string): string => json.replace(/^(?:j:)?\{/, '$&"check":1,')

const inBase64 = (json: string): string =>
  Buffer.from(withMember(Buffer.from(json, 'base64').toString())).toString('base64url')

/** The cookies and headers of the session, each changed in a way that only a verified one survives. */
export async function noForgedSession (subject: Subject): Promise<void> {
  const { browser, user, set } = await subject.session()
  const { headers = {}, login } = user
  const cookies = cookiesIn(browser)
  const session = set.length > 0 ? set : cookies
  const claims = await claimsOf(subject)
  for (const cookie of session) {
    const texts = (['utf8', 'base64', 'hex'] as const).map((encoding) =>
      Buffer.from(unescape(cookie.value), encoding).toString())
    // Alone it tells whether it is the session; another user has one of the same name perhaps.
    const isForged = texts.some((text) => claims.includes(text)) && (await isIssued(subject, [cookie]))
    expect(!isForged, `the cookie ${cookie.name} is what the user is called: anybody can write it`)
  }
  if (login !== undefined && session.some(({ value }) => COUNTED.test(value))) await enter(subject, user)
  for (const cookie of session) {
    const others = cookies.filter(({ name }) => name !== cookie.name)
    await expectVerified(`the cookie ${cookie.name}`, unescape(cookie.value), (value) =>
      isIssued(subject, [...others, { ...cookie, value: encodeURIComponent(value) }], headers))
  }
  // A JWT, or another text with a signature.
  const signed = Object.entries(headers).filter(([, value]) => /\.[\w-]{20,}$/.test(value))
  for (const [name, value] of signed) {
    await expectVerified(`the header ${name}`, value, (forged) =>
      isIssued(subject, cookies, { ...headers, [name]: forged }))
  }
  if (session.length + signed.length === 0) {
    throw new Untested('it needs a session in a cookie or a signed token')
  }
}

/** @throws Failed where a forgery of the value gets a code, and an empty value gets none */
async function expectVerified (
  what: string,
  value: string,
  isIn: (value: string) => Promise<boolean>
): Promise<void> {
  for (const [how, forge] of FORGERIES) {
    const forged = forge(value)
    if (forged === value || !(await isIn(forged))) continue
    // Without it the user may be known as well: then it is not the session.
    expect(await isIn(''), `${what} ${how} still gets a code`)
  }
}

/** What the user is called: what was typed into the login, and the identifiers of the record. */
export async function claimsOf (subject: Subject): Promise<string[]> {
  const { user } = await subject.session()
  const typed = Object.entries(user.login ?? {})
    .filter(([name]) => !/pass|secret|pin|code/i.test(name))
    .map(([, value]) => value)
  // Where there is no record, the rules on it say why.
  const record = await subject.recordOf().catch(() => null)
  const texts = [...typed, record?.external_id ?? '', record?.email ?? '']
  return [...new Set(texts)].filter((text) => /^[\x21-\x7e]+$/.test(text))
}
