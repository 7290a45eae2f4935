// An app whose session cookie has a Path. The option `prefix` moves the plugin's routes below it.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js cookie-path
import partnerSso from 'fastify-partner-sso'
import type { User } from '../users.ts'
import { addForms } from './form.ts'
import { addSessions, currentUser } from './sessions.ts'
import type { Login } from './settings.ts'

export const cookiePathLogin: Login = async (app, { sso, secret, loginUrl }) => {
  await addSessions(app, secret, '/app')
  await app.register(partnerSso<User>, {
    ...sso,
    currentUser,
    // The Authorization URL is now https://your-app.example/app/oauth/authorize.
    prefix: '/app',
    loginPage: '/app/login'
  })
  await app.register(async (scope) => await addForms(scope, loginUrl), { prefix: '/app' })
  app.get('/', (_request, reply) => reply.redirect('/app/'))
}
