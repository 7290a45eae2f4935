// Who gets in?
import { at, currentUser, isLoggedIn, onSend, record, refuse, title } from './changes.ts'
import type { Change, Row } from './host.ts'
import { form, recordOf, returnTo, USERS, userOf } from './host.ts'

const none = { id: 'guest', email: '', name: '', isAgent: false }
const claims = (what: unknown) => USERS[String(what)]

/** Sessions that are JSON, written and read in this way, with no signature. */
const json = (write: (json: string) => string, read: (text: string) => string): Change => ({
  remember: (reply, name, options) =>
    reply.setCookie('sid', write(JSON.stringify({ user: name })), { ...options, signed: false }),
  ...currentUser(({ cookies }) => claims(/"user":"(\w+)"/.exec(read(cookies.sid ?? ''))?.[1]) ?? null)
})

/** A token with a signature. */
const byToken = (name: string) => ({ headers: { Authorization: `Bearer ${name}.${'x'.repeat(43)}`, 'X-Tenant': '1' } })

export const WHO: Row[] = [
  ['currentUser throws for nobody', currentUser((request) => USERS[userOf(request)!.name.slice(0, 3).toLowerCase()]),
    'authorize.login-needed'],
  ['{} for nobody', currentUser((request) => userOf(request) ?? {}), 'authorize.login-needed'],
  ['a guest for nobody', currentUser((request) => userOf(request) ?? none), 'authorize.login-needed'],
  ['Ada for everybody', currentUser(() => USERS.ada), 'authorize.login-needed'],
  ['currentUser throws', currentUser(() => { throw new Error('no database') }), 'authorize.login-needed'],
  ['currentUser throws for users', currentUser((request) => {
    if (userOf(request) !== null) throw new Error('no database')
  }), 'authorize.code'],
  ['a user of the query', currentUser((request) =>
    claims((request.query as { user?: string }).user) ?? userOf(request)
  ), 'authorize.claimed-user'],
  ['a user of a header', currentUser((request) => claims(request.headers['x-user']) ?? userOf(request)),
    'authorize.claimed-user'],
  ['a cookie that is not signed', {
    cookie: { signed: false },
    ...currentUser((request) => claims(request.cookies.sid) ?? null)
  }, 'authorize.forged-session'],
  ['a signature that is not verified', currentUser((request) => claims(request.cookies.sid?.split('.')[0]) ?? null),
    'authorize.forged-session'],
  ['JSON that is not signed', json((text) => text, (text) => text), 'authorize.forged-session'],
  ['JSON in Base64 that is not signed',
    json((text) => Buffer.from(text).toString('base64'), (text) => Buffer.from(text, 'base64').toString()),
    'authorize.forged-session'],
  ['sessions that are numbered', {
    ...currentUser(({ cookies }) => claims(['', 'ada', 'cyd'][Number(cookies.sid)]) ?? null),
    users: { user: { cookies: 'sid=2' } }
  }, 'authorize.forged-session'],
  ['a token that is not verified', {
    plugin: {
      currentUser: ({ headers: { authorization = '' } }) =>
        claims(/^Bearer (\w+)\./.exec(authorization)?.[1]) ?? null,
      loginPage: 'https://login.partner.example/'
    },
    users: { user: byToken('ada') }
  }, 'authorize.forged-session'],
  ['a token with the algorithm none', {
    ...currentUser(({ cookies: { sid = '' } }) => {
      const [head = '', , seal] = sid.split('.')
      const isOpen = Buffer.from(head, 'base64url').includes('"none"')
      return isOpen || seal === 'x'.repeat(43) ? USERS.ada : null
    }),
    users: { user: { cookies: { sid: `eyJh.eyJi.${'x'.repeat(43)}` } } }
  }, 'authorize.forged-session'],
  ['a login page that sends users back, and currentUser finds none', {
    page: async (request, reply) => userOf(request) === null ? form() : reply.redirect(returnTo(request)),
    ...currentUser(() => null)
  }, 'authorize.code'],
  ['terms to accept', currentUser((request, reply) =>
    userOf(request) === null ? null : void reply.type('text/html').send(title('Terms'))
  ), 'authorize.code'],
  ['a guard against users', refuse(403, 'Forbidden', (request) => at('authorize')(request) && isLoggedIn(request)),
    'authorize.hook'],
  ['a session that ends soon', () => {
    let asked = 0
    return currentUser((request) => asked++ < 20 ? userOf(request) : null)
  }, 'authorize.code'],
  ['everybody may enter', { plugin: { portalEligibility: recordOf } }, 'authorize.eligibility'],
  ['portalEligibility throws', record(() => { throw new Error('no roles') }), 'authorize.code'],
  ['portalEligibility throws for the ineligible', {
    plugin: {
      portalEligibility (user) {
        if (!user.isAgent) throw new Error('no role')
        return recordOf(user)
      }
    }
  }, 'authorize.access-denied'],
  ['a role of the other type', record(() => ({ control_role: 'Client Administrator' })), 'authorize.code'],
  ['an identifier that is a number', record(() => ({ external_id: 7 })), 'authorize.code'],
  ['no e-mail address', record(() => ({ email: undefined })), 'authorize.code'],
  ['an error page for the ineligible', onSend((_payload, reply) => {
    if (!String(reply.getHeader('location')).includes('access_denied')) return undefined
    reply.code(500).removeHeader('location')
    return 'Something went wrong'
  }), 'authorize.access-denied']
]
