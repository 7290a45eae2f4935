// One of the logins, and a portal beside it. From a clone:
//
//   npm run ready && node examples/dist/logins/start.js form | second-factor | single-page | bearer | cookie-path
//   npm run ready && node examples/dist/logins/start.js federated | saml
import { randomBytes } from 'node:crypto'
import { allowInsecureRequests, discovery } from 'openid-client'
import { partnerApp } from '../partner-app.ts'
import { portal, startPortal } from '../portal.ts'
import { bearerLogin } from './bearer.ts'
import { cookiePathLogin } from './cookie-path.ts'
import { federatedLogin } from './federated.ts'
import { formLogin } from './form.ts'
import { nodeSaml, samlLogin } from './saml.ts'
import { secondFactorLogin } from './second-factor.ts'
import type { Login } from './settings.ts'
import { singlePageLogin } from './single-page.ts'

const port = Number(process.env.PORT ?? 3000)
const url = `http://localhost:${port}`
const { OIDC_ISSUER: issuer = '', OIDC_CLIENT_ID: clientId = '', OIDC_CLIENT_SECRET: secret } = process.env
const { SAML_ENTRY_POINT: entryPoint = '', SAML_CERT: idpCert = '' } = process.env

const logins: Record<string, Login> = {
  form: formLogin,
  'second-factor': secondFactorLogin,
  'single-page': singlePageLogin,
  async federated (...given) {
    // http is for a provider on this machine.
    const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : []
    const provider = await discovery(new URL(issuer), clientId, secret, undefined, { execute })
    await federatedLogin(provider, `${url}/login/callback`)(...given)
  },
  async saml (...given) {
    const provider = nodeSaml({ entryPoint, idpCert, issuer: url, audience: url, callbackUrl: `${url}/login/saml` })
    await samlLogin(provider)(...given)
  },
  bearer: bearerLogin,
  'cookie-path': cookiePathLogin
}

const name = process.argv[2] ?? ''
const login = Object.hasOwn(logins, name) ? logins[name] : undefined
if (login === undefined) throw new Error(`Say which one: ${Object.keys(logins).join(', ')}`)
const app = await partnerApp({
  portal,
  login,
  // A new one at each start: everybody has to log in again. Yours comes from your configuration.
  cookieSecret: randomBytes(32).toString('hex'),
  formActions: [issuer, entryPoint].filter((given) => given !== '').map((given) => new URL(given).origin)
})
await app.listen({ port, host: 'localhost' })
const child = startPortal(url, name === 'cookie-path' ? '/app' : '')
const stop = () => {
  child.kill()
  app.close().catch(console.error)
}
process.once('SIGINT', stop).once('SIGTERM', stop)
