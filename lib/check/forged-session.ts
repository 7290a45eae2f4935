import { unescape } from 'node:querystring'
import { expect, Untested } from './rule.ts'
import { cookiesIn, enter, isIssued } from './session.ts'
import type { Subject } from './subject.ts'
import { SECRET_FIELD } from './subject.ts'

/** What somebody makes of the text of a session; empty where there is nothing to change. */
type Forge = (text: string) => string

const changed = (part: RegExp, other: string): Forge => (text) => {
  const forged = text.replace(part, other)
  return forged === text ? '' : forged
}

/** Sessions that are counted. */
const COUNTED = /^\d{1,9}$/

const FORGERIES: Array<[how: string, forge: Forge]> = [
  ['with the number before', (text) => COUNTED.test(text) ? String(Number(text) - 1) : ''],
  ['with a made-up signature or identifier', changed(/[^.](?=[^.]*$)/g, 'A')],
  ['without its signature', changed(/\.[^.]*$/, '')],
  // A space more, which JSON ignores and a signature does not; three of them in Base64.
  ['with other content', changed(/^(?:j:)?\{/, '$& ')],
  ['with other content in Base64', changed(/eyJ/g, 'ICAg$&')]
]

/** A JWT, or another text with a signature. */
const SIGNED = /\.[\w-]{20,}$/

/** The cookies and signed headers of a session, changed in ways that only a verified one survives. */
export async function noForgedSession (subject: Subject) {
  const { user, ...session } = await subject.session()
  const isCounted = cookiesIn(session.browser).some(({ value }) => COUNTED.test(value))
  const { browser } = isCounted ? await enter(subject, user) : session

  /** Whether a code is issued for what the forgery makes of the session. */
  const isFooled = (forge: Forge) => {
    const cookies = cookiesIn(browser).map(({ name, value }) => [
      name,
      encodeURIComponent(forge(unescape(value)))
    ])
    const headers = Object.entries(user.headers ?? {}).map(([name, value]) => [
      name,
      SIGNED.test(value) ? forge(value) : value
    ])
    return isIssued(subject, {
      cookies: Object.fromEntries(cookies),
      headers: Object.fromEntries(headers)
    })
  }

  // Without them the user may be known as well: then they are not the session.
  if (await isFooled(() => '')) {
    throw new Untested('it needs a session in a cookie or a signed token')
  }
  const claims = await claimsOf(subject)
  const isName = (text: string) =>
    ENCODINGS.some((encoding) => claims.includes(Buffer.from(text, encoding).toString()))
  const isNamed = await isFooled((text) => isName(text) ? text : '')
  expect(!isNamed, 'the session is what the user is called: anybody can write it')
  for (const [how, forge] of FORGERIES) {
    expect(!(await isFooled(forge)), `the session ${how} still gets a code`)
  }
}

const ENCODINGS = ['utf8', 'base64', 'hex'] as const

/** What the user is called: what was typed into the login, and the identifiers of the record. */
export async function claimsOf (subject: Subject) {
  const { user } = await subject.session()
  // Where there is no record, the rules on it say why.
  const none = { external_id: '', email: '' }
  const { external_id: id, email } = await subject.recordOf().catch(() => none)
  const typed = Object.entries(user.login ?? {}).flatMap(([name, value]) => SECRET_FIELD.test(name) ? [] : value)
  return [...typed, id, email].filter((text) => /^[\x21-\x7e]+$/.test(text))
}
