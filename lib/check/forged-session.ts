import { unescape } from 'node:querystring'
import { expect, Untested } from './rule.ts'
import { cookiesIn, enter, isIssued } from './session.ts'
import type { Subject } from './subject.ts'

type Forge = (text: string) => string

/** Sessions that are counted: another login has the next number. */
const COUNTED = /^\d{1,9}$/

/** What somebody makes of a session. */
const FORGERIES: Array<[how: string, forge: Forge]> = [
  ['with the next number', (text) => text.replace(COUNTED, (number) => String(Number(number) + 1))],
  ['with the number before', (text) => text.replace(COUNTED, (number) => String(Number(number) - 1))],
  ['with a made-up signature or identifier', (text) => text.replace(/[^.]+$/, inOtherLetters)],
  ['without its signature', (text) => text.replace(/\.[^.]*$/, '')],
  ['with other content', (text) => withMember(text).replace(/eyJ[\w+/-]+/g, withMemberInBase64)]
]

const inOtherLetters = (text: string): string => 'A'.repeat(text.length)

const withMember = (json: string): string => json.replace(/^(?:j:)?\{/, '$&"check":1,')

function withMemberInBase64 (text: string): string {
  const json = Buffer.from(text, 'base64').toString()
  return Buffer.from(withMember(json)).toString('base64url')
}

/** A JWT, or another text with a signature. */
const SIGNED = /\.[\w-]{20,}$/

/** The cookies and signed headers of a session, changed in ways that only a verified one survives. */
export async function noForgedSession (subject: Subject): Promise<void> {
  const { browser, user } = await subject.session()
  const { headers = {}, login } = user
  const cookies = cookiesIn(browser)

  /** Whether a code is issued for what the forgery makes of the session. */
  const isFooled = (forge: Forge): Promise<boolean> => {
    const forged = cookies.map((cookie) => {
      const value = forge(unescape(cookie.value))
      return { ...cookie, value: encodeURIComponent(value) }
    })
    const fields = Object.entries(headers).map(([name, value]) =>
      [name, SIGNED.test(value) ? forge(value) : value]
    )
    return isIssued(subject, forged, Object.fromEntries(fields))
  }

  // Without them the user may be known as well: then they are not the session.
  if (await isFooled(() => '')) {
    throw new Untested('it needs a session in a cookie or a signed token')
  }
  const claims = await claimsOf(subject)
  const isNamed = await isFooled((text) => {
    const readings = ENCODINGS.map((encoding) => Buffer.from(text, encoding).toString())
    return readings.some((reading) => claims.includes(reading)) ? text : ''
  })
  expect(!isNamed, 'the session is what the user is called: anybody can write it')
  if (login !== undefined && cookies.some(({ value }) => COUNTED.test(value))) {
    await enter(subject, user)
  }
  for (const [how, forge] of FORGERIES) {
    const isForged = await isFooled((text) => forge(text) === text ? '' : forge(text))
    expect(!isForged, `the session ${how} still gets a code`)
  }
}

const ENCODINGS = ['utf8', 'base64', 'hex'] as const

/** What the user is called: what was typed into the login, and the identifiers of the record. */
export async function claimsOf (subject: Subject): Promise<string[]> {
  const { user } = await subject.session()
  const typed = Object.entries(user.login ?? {})
    .filter(([name]) => !/pass|secret|pin|code/i.test(name))
    .map(([, value]) => value)
  // Where there is no record, the rules on it say why.
  const none = { external_id: '', email: '' }
  const { external_id: id, email } = await subject.recordOf().catch(() => none)
  return [...typed, id, email].filter((text) => /^[\x21-\x7e]+$/.test(text))
}
