import { type FastifyReply, type FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { type AuthorizationCodes } from '../grants/authorization-code.ts'
import { errorPage, errorPagePolicy } from '../http/error-page.ts'
import { OAuthError, type RefusalContext, type RefusalReason } from '../errors.ts'
import { type Reporter } from '../events.ts'
import { Parameters, queryOf, safeInQuery } from '../http/parameters.ts'
import { isCodeChallenge } from '../grants/pkce.ts'
import { type PortalInformation, type Portals, type RegisteredPortal } from '../portal.ts'
import { type Endpoint, protect, sendRefusal } from '../http/replies.ts'
import { checkUserInformation, type UserInformation } from '../user-information.ts'

type LoginPage = string | ((returnTo: string, request: FastifyRequest) => string)

/** What the route works with. */
interface Parts {
  portals: Portals
  codes: AuthorizationCodes
  reporter: Reporter
  /** Milliseconds that all store calls of a request may take together. */
  storeTimeout: number
  currentUser: (request: FastifyRequest, reply: FastifyReply) => unknown
  portalEligibility: (user: any, context: { portal: PortalInformation, request: FastifyRequest }) => unknown
  loginPage?: LoginPage | undefined
}

/** GET /oauth/authorize: the authorization endpoint (spec section 4.1, RFC 6749 section 3.1). */
export function authorizeRoute ({ portals, codes, reporter, storeTimeout, ...host }: Parts): Endpoint {
  return {
    async handler (request, reply) {
      const parameters = new Parameters(queryOf(request.raw.url as string))
      const portal = await identify(parameters)
      const state = stateOf(parameters)
      let known: RefusalContext = { clientId: portal.clientId }
      try {
        const codeChallenge = check(parameters)
        const user = await currentUser(request, reply, portal)
        if (reply.sent) return reply
        if (!user) return sendToLogin(request, reply, portal)
        const record = await userInformation(user, request, portal)
        const externalId = record.external_id
        known = { ...known, externalId }
        const grant = { clientId: portal.clientId, level: portal.information.level, codeChallenge, externalId, record: JSON.stringify(record) }
        const code = await codes.issue(portal, grant, performance.now() + storeTimeout)
        // The host's time limit was over first: nobody waits for the code.
        if (reply.sent) return reply
        reporter.report(request, { type: 'code_issued', reason: 'ok', clientId: portal.clientId, externalId })
        return reply.redirect(portal.callback(`code=${code}`, state), 302)
      } catch (error) {
        const refusal = OAuthError.from(error).with(known)
        const { error: code, description } = refusal.refusal
        refusal.location = portal.callback(`error=${code}&error_description=${encodeURIComponent(description)}`, state)
        throw refusal
      }
    },

    errorHandler (error, request, reply) {
      // What the host's hooks threw is the host's to answer.
      if (!(error instanceof OAuthError)) throw error
      reporter.refused(request, error)
      if (error.location !== undefined) return reply.redirect(error.location, 302)
      return prefersHtml(request) ? sendPage(reply, error) : sendRefusal(reply, error)
    },

    onSend (_request, reply, payload, done) {
      protect(reply)
      reply.header('referrer-policy', 'no-referrer')
      reply.header('x-frame-options', 'DENY')
      reply.header('content-security-policy', isPage(reply) ? errorPagePolicy : "frame-ancestors 'none'")
      done(null, payload)
    }
  }

  /** Without a known portal and its own redirect_uri, nothing may be redirected (RFC 6749 section 4.1.2.1). */
  async function identify (parameters: Parameters): Promise<RegisteredPortal> {
    const clientId = parameters.get('client_id')
    if (parameters.isRepeated('client_id')) throw new OAuthError('client_id_repeated')
    if (clientId === undefined) throw new OAuthError('client_id_missing')
    const portal = await portals.find(clientId)
    if (portal === undefined) throw new OAuthError('client_id_unknown')
    const { loginUrl } = portal.information
    const refuse = (reason: RefusalReason) =>
      Object.assign(new OAuthError(reason, { clientId, expected: portal.redirectUri }), { loginUrl })
    const redirectUri = parameters.get('redirect_uri')
    if (parameters.isRepeated('redirect_uri')) throw refuse('redirect_uri_repeated')
    if (redirectUri === undefined) throw refuse('redirect_uri_missing')
    // RFC 9700 section 2.1: exact string matching
    if (redirectUri !== portal.redirectUri) throw refuse('redirect_uri_unregistered')
    return portal
  }

  async function currentUser (request: FastifyRequest, reply: FastifyReply, portal: RegisteredPortal): Promise<unknown> {
    let user
    try {
      user = await host.currentUser(request, reply)
    } catch (cause) {
      if (!reply.sent) throw new OAuthError('current_user_failed', { cause })
      reporter.failed(request, 'currentUser threw after it had replied', cause)
    }
    if (reply.sent && !isOverdue(request)) {
      reporter.report(request, { type: 'login_required', reason: 'answered_by_current_user', clientId: portal.clientId })
    }
    return user
  }

  function sendToLogin (request: FastifyRequest, reply: FastifyReply, portal: RegisteredPortal): FastifyReply {
    if (host.loginPage === undefined) throw new OAuthError('not_logged_in')
    const location = loginLocation(host.loginPage, request)
    reporter.report(request, { type: 'login_required', reason: 'login_page', clientId: portal.clientId })
    return reply.redirect(location, 302)
  }

  async function userInformation (user: unknown, request: FastifyRequest, portal: RegisteredPortal): Promise<UserInformation> {
    let given
    try {
      given = await host.portalEligibility(user, { portal: portal.information, request })
    } catch (cause) {
      throw new OAuthError('portal_eligibility_failed', { cause })
    }
    if (!given) throw new OAuthError('not_eligible')
    try {
      return checkUserInformation(given, portal.information.level)
    } catch (cause) {
      throw new OAuthError('user_information_invalid', { cause })
    }
  }

  function sendPage (reply: FastifyReply, { refusal, loginUrl }: OAuthError): FastifyReply {
    const startAgain = loginUrl ?? portals.only?.information.loginUrl
    return reply.code(refusal.status).type('text/html; charset=utf-8')
      .send(errorPage(refusal.description, startAgain === undefined ? [] : [startAgain]))
  }
}

/** The state as it was encoded; a repeated one is refused and not echoed. */
function stateOf (parameters: Parameters): string | undefined {
  const state = parameters.raw('state')
  return state === undefined || parameters.isRepeated('state') ? undefined : safeInQuery(state)
}

/** The parameters besides client_id and redirect_uri (RFC 6749 section 4.1.1). Gives the code_challenge, or ''. */
function check (parameters: Parameters): string {
  if (parameters.repeated) throw new OAuthError('parameter_repeated')
  const responseType = parameters.get('response_type')
  if (responseType === undefined) throw new OAuthError('response_type_missing')
  if (responseType !== 'code') throw new OAuthError('response_type_unsupported')
  // Optional in RFC 6749, required by spec section 4.1: the portal rests on it.
  if (parameters.get('state') === undefined) throw new OAuthError('state_missing')
  return checkChallenge(parameters.get('code_challenge'), parameters.get('code_challenge_method'))
}

/** PKCE is optional for the portal; where it is used, `plain` is refused (RFC 9700 section 2.1.1). */
function checkChallenge (challenge: string | undefined, method: string | undefined): string {
  if (challenge === undefined && method === undefined) return ''
  if (challenge === undefined || !isCodeChallenge(challenge)) throw new OAuthError('code_challenge_malformed')
  if (method !== 'S256') throw new OAuthError('code_challenge_method_unsupported')
  return challenge
}

function loginLocation (loginPage: LoginPage, request: FastifyRequest): string {
  const returnTo = relative(request.originalUrl)
  if (typeof loginPage === 'string') {
    const page = loginPage.replace(/#.*/, '')
    const fragment = loginPage.slice(page.length)
    return `${page}${page.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo)}${fragment}`
  }
  try {
    return asLocation(loginPage(returnTo, request))
  } catch (cause) {
    throw new OAuthError('login_page_failed', { cause })
  }
}

/** The URL of this request on this site: no scheme, host or double slash that a browser would take for another site. */
function relative (url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '').replace(/^[/\\]*/, '/')
}

function asLocation (url: unknown): string {
  if (typeof url !== 'string' || url === '') throw new TypeError('loginPage must return a URL')

  return url.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/** Whether Fastify has answered, as handlerTimeout demands. */
function isOverdue ({ signal }: FastifyRequest): boolean {
  return signal?.reason?.code === 'FST_ERR_HANDLER_TIMEOUT'
}

function prefersHtml (request: FastifyRequest): boolean {
  return new Negotiator(request.raw).mediaType(['application/json', 'text/html']) === 'text/html'
}

function isPage (reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html')
}
