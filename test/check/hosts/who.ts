// Who gets in?
import { personOf, RECORDS, recordOf } from '../../app.ts'
import { at, currentUser, form, isLoggedIn, onSend, record, redirect, refuse, returnTo, title } from './changes.ts'
import type { Row } from './row.ts'

export const WHO: Row[] = [
  ['currentUser throws for nobody', currentUser((request) => personOf(request)!.toLowerCase()),
    'authorize.login-needed'],
  ['{} for nobody', currentUser((request) => personOf(request) ?? {}), 'authorize.login-needed'],
  ['a guest for nobody', currentUser((request) => personOf(request) ?? 'guest'), 'authorize.login-needed'],
  ['Ada for everybody', currentUser(() => 'ada'), 'authorize.login-needed'],
  ['currentUser throws', currentUser(() => { throw new Error('no database') }), 'authorize.login-needed'],
  ['currentUser throws for users', currentUser((request) => {
    if (isLoggedIn(request)) throw new Error('no database')
  }), 'authorize.code'],
  ['a login page that sends users back, and currentUser finds none', {
    loginPage: (request, reply) => isLoggedIn(request)
      ? reply.redirect(returnTo(request))
      : reply.type('text/html').send(form()),
    ...currentUser(() => null)
  }, 'authorize.code'],
  ['a guard that leads everybody to the login', redirect(at('authorize'), (url) =>
    `/login?return_to=${encodeURIComponent(url)}`), 'authorize.code'],
  ['terms to accept', currentUser((request, reply) =>
    isLoggedIn(request) ? void reply.type('text/html').send(title('Terms')) : null
  ), 'authorize.code'],
  ['a guard against users', refuse(403, 'Forbidden', (request) => at('authorize')(request) && isLoggedIn(request)),
    'authorize.hook'],
  ['a session that ends soon', () => {
    let asked = 0
    return currentUser((request) => asked++ < 12 ? personOf(request) : null)
  }, 'authorize.code'],
  ['everybody may enter', {
    options: { portalEligibility: (person) => recordOf(person) ?? { ...RECORDS.ada, external_id: 'u-3' } }
  }, 'authorize.access-denied'],
  ['portalEligibility throws', record(() => { throw new Error('no roles') }), 'authorize.code'],
  ['portalEligibility throws for the ineligible', {
    options: {
      portalEligibility (person) {
        if (person === 'eve') throw new Error('no role')
        return recordOf(person)
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
