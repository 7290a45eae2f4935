// Who gets in?
import { at, currentUser, isLoggedIn, onSend, record, redirect, refuse, title } from './changes.ts'
import type { Row } from './host.ts'
import { form, recordOf, returnTo, USERS, userOf } from './host.ts'

const none = { id: 'guest', email: '', name: '', isAgent: false }

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
  ['a login page that sends users back, and currentUser finds none', {
    page: async (request, reply) => userOf(request) === null ? form() : reply.redirect(returnTo(request)),
    ...currentUser(() => null)
  }, 'authorize.code'],
  ['a guard that leads everybody to the login', redirect(at('authorize'), (url) =>
    `/login?return_to=${encodeURIComponent(url)}`), 'authorize.code'],
  ['terms to accept', currentUser((request, reply) =>
    userOf(request) === null ? null : void reply.type('text/html').send(title('Terms'))
  ), 'authorize.code'],
  ['a guard against users', refuse(403, 'Forbidden', (request) => at('authorize')(request) && isLoggedIn(request)),
    'authorize.hook'],
  ['a session that ends soon', () => {
    let asked = 0
    return currentUser((request) => asked++ < 12 ? userOf(request) : null)
  }, 'authorize.code'],
  ['everybody may enter', { plugin: { portalEligibility: recordOf } }, 'authorize.access-denied'],
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
