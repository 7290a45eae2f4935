import { type FastifyReply, type FastifyRequest } from 'fastify'
import { type AuthorizationCodes } from '../grants/authorization-code.ts'
import { isCodeChallenge } from '../grants/pkce.ts'
import { watchAnswer } from '../http/answered.ts'
import { fixed, refusal, text } from '../http/documentation.ts'
import { type Endpoint, leaveToHost } from '../http/endpoint.ts'
import { errorPage, errorPagePolicy, prefersPage } from '../http/error-page.ts'
import { loginLocation, type LoginPage } from '../http/login-location.ts'
import { Parameters, queryOf, safeInQuery } from '../http/parameters.ts'
import { redirectUriDifference } from '../http/redirect-uri-difference.ts'
import { protect, sendRefusal } from '../http/replies.ts'
import { OAuthError, type RefusalContext } from '../errors.ts'
import { type Reporter } from '../events.ts'
import { type PortalInformation, type Portals, type RegisteredPortal } from '../portal.ts'
import { type CheckedRecord, checkUserInformation, RECORD_LIMIT, UserInformationError } from '../user-information.ts'

/** What the route works with. */
interface Parts {
  portals: Portals
  codes: AuthorizationCodes
  reporter: Reporter
  /** Milliseconds that the store calls of one request may take together. */
  storeTimeout: number
  currentUser: (request: FastifyRequest, reply: FastifyReply) => unknown
  portalEligibility: (user: any, context: { portal: PortalInformation, request: FastifyRequest }) => unknown
  loginPage?: LoginPage | undefined
}

/** Policy of every answer; an answer of the host keeps its own beside it. */
const POLICY = "frame-ancestors 'none'"

/** GET /oauth/authorize: the authorization endpoint (spec section 4.1, RFC 6749 section 3.1). */
export function authorizeRoute (
  { portals, codes, reporter, storeTimeout, currentUser, portalEligibility, loginPage }: Parts
): Endpoint {
  /** The policies of the answers that the plugin sends itself. */
  const policies = new WeakMap<FastifyReply, string>()

  return {
    method: 'GET',
    url: '/oauth/authorize',
    documentation,

    async handler (request, reply) {
      const isAnswered = watchAnswer(reply)
      // The host may have rewritten the URL; @fastify/express decodes it.
      const parameters = new Parameters(queryOf(request.originalUrl))
      const portal = await identify(parameters)
      const state = stateOf(parameters)
      const known: RefusalContext = { clientId: portal.information.clientId }
      try {
        const codeChallenge = check(parameters)
        const user = await askCurrentUser(request, reply, portal, isAnswered)
        if (isAnswered()) return reply
        if (!user) return sendToLogin(request, reply, portal)
        const { externalId, json: record } = await recordOf(user, request, portal)
        known.externalId = externalId
        // The host's time limit was over first: nobody waits for a code.
        if (isAnswered()) return reply
        const { clientId } = portal.information
        const deadline = performance.now() + storeTimeout
        const code = await codes.issue(portal, { codeChallenge, externalId, record }, deadline)
        if (isAnswered()) return reply
        reporter.report(request, { type: 'code_issued', reason: 'ok', clientId, externalId })
        return redirect(reply, portal.callback(`code=${code}`, state))
      } catch (error) {
        const refused = OAuthError.from(error).with(known)
        const { error: code, description } = refused.refusal
        const parameters = `error=${code}&error_description=${encodeURIComponent(description)}`
        refused.location = portal.callback(parameters, state)
        throw refused
      }
    },

    errorHandler (error, request, reply) {
      policies.delete(reply)
      if (!(error instanceof OAuthError)) return leaveToHost(error, reply)
      reporter.refused(request, error)
      if (error.location !== undefined) return redirect(reply, error.location)
      if (prefersPage(request.headers.accept)) return sendPage(reply, error)
      policies.set(reply, POLICY)
      return sendRefusal(reply, error)
    },

    onSend (_request, reply, payload, done) {
      protect(reply)
      reply.headers({
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': policies.get(reply) ?? besideOurs(reply.getHeader('content-security-policy'))
      })
      done(null, payload)
    }
  }

  /** Without a known portal and its own redirect_uri, nothing may be redirected (RFC 6749 section 4.1.2.1). */
  async function identify (parameters: Parameters): Promise<RegisteredPortal> {
    if (parameters.excessive) throw new OAuthError('parameters_excessive')
    const clientId = parameters.get('client_id')
    if (parameters.isRepeated('client_id')) throw new OAuthError('client_id_repeated')
    if (clientId === undefined) throw new OAuthError('client_id_missing')
    const portal = await portals.find(clientId)
    if (portal === undefined) throw new OAuthError('client_id_unknown')
    checkRedirectUri(parameters, portal)
    return portal
  }

  async function askCurrentUser (
    request: FastifyRequest, reply: FastifyReply, { information: { clientId } }: RegisteredPortal,
    isAnswered: () => boolean
  ): Promise<unknown> {
    let user
    try {
      user = await currentUser(request, reply)
    } catch (cause) {
      if (!isAnswered()) throw new OAuthError('current_user_failed', { cause })
      reporter.failed(request, 'currentUser threw after it had replied', cause)
    }
    if (isAnswered() && !isOverdue(request)) {
      reporter.report(request, { type: 'login_required', reason: 'answered_by_current_user', clientId })
    }
    return user
  }

  function sendToLogin (
    request: FastifyRequest, reply: FastifyReply, { information: { clientId } }: RegisteredPortal
  ): FastifyReply {
    if (loginPage === undefined) throw new OAuthError('not_logged_in')
    let location
    try {
      location = loginLocation(loginPage, request)
    } catch (cause) {
      throw new OAuthError('login_page_failed', { cause })
    }
    reporter.report(request, { type: 'login_required', reason: 'login_page', clientId })
    return redirect(reply, location)
  }

  async function recordOf (
    user: unknown, request: FastifyRequest, portal: RegisteredPortal
  ): Promise<CheckedRecord> {
    let given
    try {
      given = await portalEligibility(user, { portal: portal.information, request })
    } catch (cause) {
      throw new OAuthError('portal_eligibility_failed', { cause })
    }
    if (!given) throw new OAuthError('not_eligible')
    return checkedRecord(given, portal)
  }

  function redirect (reply: FastifyReply, location: string): FastifyReply {
    policies.set(reply, POLICY)
    return reply.redirect(location, 302)
  }

  function sendPage (reply: FastifyReply, { refusal, loginUrl }: OAuthError): FastifyReply {
    policies.set(reply, errorPagePolicy)
    // An unknown portal is the only one there is, or could be any.
    const start = loginUrl ?? portals.only?.information.loginUrl
    return reply.code(refusal.status).type('text/html; charset=utf-8').send(errorPage(refusal, start))
  }
}

/** The redirect_uri must be the registered one, character by character (RFC 9700 section 2.1). */
function checkRedirectUri (parameters: Parameters, { information }: RegisteredPortal): void {
  const { clientId, redirectUri: expected, loginUrl } = information
  const given = parameters.get('redirect_uri')
  if (given === expected && !parameters.isRepeated('redirect_uri')) return
  const refused = (reason: 'redirect_uri_repeated' | 'redirect_uri_missing' | 'redirect_uri_unregistered') =>
    Object.assign(new OAuthError(reason, { clientId, expected }), { loginUrl })
  if (parameters.isRepeated('redirect_uri')) throw refused('redirect_uri_repeated')
  if (given === undefined) throw refused('redirect_uri_missing')
  throw refused('redirect_uri_unregistered').with({ difference: redirectUriDifference(given, expected) })
}

/** The state as it was encoded; a repeated one is refused and not echoed. */
function stateOf (parameters: Parameters): string | undefined {
  const state = parameters.raw('state')
  return state === undefined || parameters.isRepeated('state') ? undefined : safeInQuery(state)
}

/** Checks the other parameters (RFC 6749 section 4.1.1). Returns the code_challenge, or ''. */
function check (parameters: Parameters): string {
  if (parameters.repeated) throw new OAuthError('parameter_repeated')
  const responseType = parameters.get('response_type')
  if (responseType === undefined) throw new OAuthError('response_type_missing')
  if (responseType !== 'code') throw new OAuthError('response_type_unsupported')
  // Optional in RFC 6749, required by spec section 4.1: the portal relies on it.
  if (parameters.raw('state') === undefined) throw new OAuthError('state_missing')
  return checkChallenge(parameters.get('code_challenge'), parameters.get('code_challenge_method'))
}

/** PKCE is optional for the portal; with it, `plain` is refused (RFC 9700 section 2.1.1). */
function checkChallenge (challenge: string | undefined, method: string | undefined): string {
  if (challenge === undefined && method === undefined) return ''
  if (challenge === undefined || !isCodeChallenge(challenge)) throw new OAuthError('code_challenge_malformed')
  if (method !== 'S256') throw new OAuthError('code_challenge_method_unsupported')
  return challenge
}

/** The record, or what is wrong with it. */
function checkedRecord (given: unknown, { information }: RegisteredPortal): CheckedRecord {
  try {
    return checkUserInformation(given, information.level)
  } catch (cause) {
    throw new OAuthError('user_information_invalid', {
      cause,
      // A value that cannot even be looked at, such as a revoked Proxy, throws an error of its own.
      ...cause instanceof UserInformationError ? { rule: cause.rule } : {},
      ...externalIdOf(given)
    })
  }
}

/** Whom a refused record is about, where it says so. */
function externalIdOf (given: any): { externalId?: string } {
  try {
    const externalId: unknown = given.external_id
    const isOne = typeof externalId === 'string' && externalId !== '' && externalId.length <= RECORD_LIMIT
    return isOne ? { externalId } : {}
  } catch {
    return {}
  }
}

/** The host's policy and ours: a browser applies both (Content Security Policy Level 3, section 8.1). */
function besideOurs (policy: unknown): string {
  return policy === undefined ? POLICY : `${[policy].flat().join(', ')}, ${POLICY}`
}

/** Whether Fastify has answered, because `handlerTimeout` is over. */
function isOverdue ({ signal }: FastifyRequest): boolean {
  return signal?.reason?.code === 'FST_ERR_HANDLER_TIMEOUT'
}

const documentation = {
  summary: 'Authorization endpoint',
  description: 'Sends the browser of a user who is logged in back to the portal, with a code (RFC 6749 section 4.1.1).',
  querystring: {
    type: 'object',
    required: ['client_id', 'redirect_uri', 'response_type', 'state'],
    properties: {
      client_id: text('Client identifier of the portal'),
      redirect_uri: text('Callback URL of the portal, exactly as registered'),
      response_type: fixed('code'),
      state: text('Returned unchanged'),
      scope: text('Accepted and ignored'),
      code_challenge: text('PKCE challenge (RFC 7636)'),
      code_challenge_method: fixed('S256')
    }
  },
  response: {
    302: {
      description: 'To the portal with code and state, or with error, error_description and state; or to the login',
      type: 'null',
      headers: { location: text('Where the browser goes') }
    },
    400: refusal('The client_id or redirect_uri is not registered; a page where the Accept header prefers HTML')
  }
}
