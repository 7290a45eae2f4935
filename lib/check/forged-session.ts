import { unescape } from 'node:querystring'
import type { User } from '../flow/user.ts'
import { signIns } from './record.ts'
import { expect, Untested } from './rule.ts'
import { cookiesIn, isIssued } from './session.ts'
import type { Subject } from './subject.ts'
import { SECRET_FIELD } from './subject.ts'

/** What somebody changes in the text of a session. */
const FORGERIES = [
  ['with a made-up signature or identifier', /[^.](?=[^.]*$)/g, 'A'],
  ['without its signature', /\.[^.]*$/, ''],
  ['as a JWT with the algorithm none', /eyJ[^.]*(\.[^.]*\.)[^.]*$/, 'eyJhbGciOiJub25lIn0$1'],
  // A space more, which JSON ignores and a signature does not; three of them in Base64.
  ['with other content', /^(?:j:)?\{/, '$& '],
  ['with other content in Base64', /eyJ/, 'ICAg$&']
] as const

/** A JWT, or another text with a signature. */
const SIGNED = /\.[\w-]{20,}$/

/** A number, which is counted or short enough to be guessed. */
const NUMBER = /^\d{1,9}$/

/** The cookies and signed headers of a session, changed in ways that only a verified one survives. */
export async function noForgedSession (subject: Subject) {
  const { user, browser } = await subject.session()

  /** Whether a code is issued for what becomes of the texts of the session. An empty one is nobody's. */
  const isFooled = (forge: (text: string) => string) => {
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
  const claims = await claimsOf(subject, user)
  const isGuessed = await isFooled((text) => {
    const isName = claims.some((claim) => [claim, btoa(claim)].includes(text))
    return isName || NUMBER.test(text) ? text : ''
  })
  expect(!isGuessed, 'the session is what the user is called, or a short number: anybody can write it')
  for (const [how, part, other] of FORGERIES) {
    const isKept = await isFooled((text) => {
      const forged = text.replace(part, other)
      return forged === text ? '' : forged
    })
    expect(!isKept, `the session ${how} still gets a code`)
  }
}

/** What the user is called: what was typed into the login, and the identifiers of the record. */
export async function claimsOf (subject: Subject, user: User) {
  // Without a record, the rules on it say why.
  const [record] = await signIns(subject).catch(() => [])
  const typed = Object.entries(user.login ?? {}).flatMap(([name, value]) => SECRET_FIELD.test(name) ? [] : value)
  return [...typed, record?.external_id, record?.email].filter((text) => /^[\x21-\x7e]+$/.test(text ?? ''))
}
