import type { FastifyReply, FastifyRequest } from 'fastify'
import { isCodeChallenge } from '../grants/pkce.ts'
import { claim, OWN, OWN_REDIRECT, protectInBrowser } from '../http/browser-headers.ts'
import { fixed, text } from '../http/documentation.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { OWN_PAGE, ownErrorPage, prefersPage } from '../http/error-page.ts'
import type { PageRefusal } from '../http/error-page.ts'
import { loginLocation } from '../http/login-location.ts'
import { Parameters, queryOf, safeInQuery } from '../http/parameters.ts'
import { redirectUriDifference } from '../http/redirect-uri-difference.ts'
import { retryLater, sendRefusal, sign } from '../http/replies.ts'
import { callHost, headOf, isOverdue, REPLIED } from '../http/watch-reply.ts'
import { OAuthError } from '../errors.ts'
import type { RefusalContext, RefusalReason } from '../errors.ts'
import { logFailure, requestIdOf } from '../events.ts'
import type { Portals } from '../portal/portals.ts'
import type { PortalInformation, RegisteredPortal } from '../portal/registered-portal.ts'
import * as Type from '../typebox.ts'
import { readUserInformation } from '../user-information.ts'
import type { UserInformation } from '../user-information.ts'
import type { Parts } from './parts.ts'

/** GET /oauth/authorize: the authorization endpoint (RFC 6749 section 3.1). */
export function authorizeRoute (parts: Parts): Endpoint {
  const { portals, codes, reporter, storeTimeout, returnCookie } = parts
  return {
    name: 'authorize',
    method: 'GET',
    url: '/oauth/authorize',
    documentation,

    handler: async function partnerSsoAuthorize (request, reply) {
      // The host may have rewritten the URL; @fastify/express decodes it.
      const parameters = new Parameters(queryOf(request.originalUrl))
      const portal = await identifyPortal(parameters, portals)
      const state = stateOf(parameters)
      const { clientId } = portal.information
      const known: RefusalContext = { clientId }
      try {
        const codeChallenge = checkParameters(parameters)
        const user = await askCurrentUser(parts, request, reply, clientId)
        if (user === REPLIED) return reply
        if (!user) return sendToLogin(parts, parameters, request, reply, clientId)
        const given = await askEligibility(parts, user, request, reply, portal)
        if (given === REPLIED) return reply
        const record = checkRecord(given, portal, known)
        const deadline = performance.now() + storeTimeout
        const { code, signInId } = await codes.issue(portal, { codeChallenge, record }, deadline)
        // Fastify has responded.
        if (isOverdue(request)) return reply
        returnCookie.forget(request, reply)
        reporter.report(request, { type: 'code_issued', reason: 'ok', ...known, signInId })
        return redirect(sign(reply), portal.callback(`code=${code}`, state))
      } catch (error) {
        throw OAuthError.from(error, known, { callback: (parameters) => portal.callback(parameters, state) })
      }
    },

    protect: protectInBrowser,

    refuse (error, reply) {
      const { callback, loginUrl = portals.only?.information.loginUrl } = error.wayBack
      if (callback !== undefined) return redirect(sign(reply, error.refusal), callback(errorParameters(error)))
      if (prefersPage(reply.request.headers.accept)) return sendPage(parts, error, loginUrl, reply)
      claim(reply, OWN)
      return sendRefusal(reply, error)
    }
  }
}

/** Without a known portal and its own redirect_uri, nothing may be redirected (RFC 6749 section 4.1.2.1). */
async function identifyPortal (parameters: Parameters, portals: Portals): Promise<RegisteredPortal> {
  if (parameters.excessive) throw new OAuthError('parameters_excessive')
  const clientId = parameters.get('client_id')
  if (parameters.isRepeated('client_id')) throw new OAuthError('client_id_repeated')
  if (clientId === undefined) throw new OAuthError('client_id_missing')
  const portal = await portals.find(clientId)
  if (portal === undefined) throw new OAuthError('client_id_unknown')
  requireRegistered(parameters, portal.information)
  return portal
}

/** The redirect_uri must be the registered one, character by character (RFC 9700 section 2.1). */
function requireRegistered (
  parameters: Parameters, { clientId, redirectUri: expected, loginUrl }: PortalInformation
): void {
  const given = parameters.get('redirect_uri')
  const known = { clientId, expected }
  if (parameters.isRepeated('redirect_uri')) throw new OAuthError('redirect_uri_repeated', known, { loginUrl })
  if (given === undefined) throw new OAuthError('redirect_uri_missing', known, { loginUrl })
  if (given === expected) return
  const difference = redirectUriDifference(given, expected)
  throw new OAuthError('redirect_uri_unregistered', { ...known, difference }, { loginUrl })
}

/** The state as it was encoded; a repeated one is refused and not echoed. */
function stateOf (parameters: Parameters): string | undefined {
  const state = parameters.raw('state')
  return state === undefined || parameters.isRepeated('state') ? undefined : safeInQuery(state)
}

/** Checks the other parameters (RFC 6749 section 4.1.1). Returns the code_challenge, or ''. */
function checkParameters (parameters: Parameters): string {
  if (parameters.repeated) throw new OAuthError('parameter_repeated')
  const responseType = parameters.get('response_type')
  if (responseType === undefined) throw new OAuthError('response_type_missing')
  if (responseType !== 'code') throw new OAuthError('response_type_unsupported')
  // Optional in RFC 6749, required here: the portal relies on it.
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

async function askCurrentUser (
  { currentUser, reporter }: Parts, request: FastifyRequest, reply: FastifyReply, clientId: string
): Promise<unknown> {
  const user = await askHost(reply, 'current_user_failed', () => currentUser(request, reply))
  if (user === REPLIED && !isOverdue(request)) {
    reporter.report(request, { type: 'login_required', reason: 'current_user_replied', clientId })
  }
  return user
}

/** Calls `currentUser` or `portalEligibility`. */
async function askHost (reply: FastifyReply, reason: RefusalReason, call: () => unknown): Promise<unknown> {
  const [head, status] = [headOf(reply), reply.statusCode]
  try {
    const value = await callHost(reply, call)
    const hasHead = headOf(reply) !== head
    // The host has sent its response without `return reply`: nothing may follow it.
    if (!value) return hasHead ? REPLIED : value
    // Nor a code: the response may be a page that asks for a second factor.
    const hasBegun = hasHead || reply.statusCode !== status
    if (value !== REPLIED && hasBegun) throw new Error('Sent a reply without `return reply`')
    return value
  } catch (cause) {
    if (!reply.sent) throw new OAuthError(reason, { cause })
    logFailure(reply.request, `${reason}, after a reply`, cause)
    return REPLIED
  }
}

function sendToLogin (
  { loginPage, returnCookie, reporter }: Parts, parameters: Parameters, request: FastifyRequest, reply: FastifyReply,
  clientId: string
): FastifyReply {
  if (loginPage === undefined) throw new OAuthError('not_logged_in')
  let location
  try {
    const returnTo = `${returnCookie.path}?${knownQuery(parameters)}`
    location = loginLocation(loginPage, returnTo, request)
    returnCookie.remember(request, reply, returnTo)
  } catch (cause) {
    throw new OAuthError('login_page_failed', { cause })
  }
  reporter.report(request, { type: 'login_required', reason: 'login_page', clientId })
  return redirect(sign(reply), location)
}

/** The parameters that the endpoint knows, as they were encoded: a secret that is among them goes no further. */
function knownQuery (parameters: Parameters): string {
  return Object.keys(documentation.querystring.properties).flatMap((name) => {
    const value = parameters.raw(name)
    return value === undefined ? [] : `${name}=${safeInQuery(value)}`
  }).join('&')
}

/** What the host returns for the user: the record. */
async function askEligibility (
  { portalEligibility, reporter }: Parts, user: unknown, request: FastifyRequest, reply: FastifyReply,
  { information: portal }: RegisteredPortal
): Promise<unknown> {
  const given = await askHost(reply, 'portal_eligibility_failed',
    () => portalEligibility(user, { portal, request, reply }))
  if (given === REPLIED) {
    if (!isOverdue(request)) reporter.refused(request, new OAuthError('not_eligible', { clientId: portal.clientId }))
    return REPLIED
  }
  if (given === undefined) throw new OAuthError('eligibility_undefined')
  if (!given) throw new OAuthError('not_eligible')
  return given
}

function checkRecord (
  given: unknown, { information: { level } }: RegisteredPortal, known: RefusalContext
): UserInformation {
  const { record, faults: [rule] } = readUserInformation(given, level)
  const { external_id: externalId } = record
  if (externalId && typeof externalId === 'string') known.externalId = externalId
  if (rule !== undefined) throw new OAuthError('user_information_invalid', { rule })
  return record
}

/** The page for a person whose sign-in cannot go back to the portal: that of the host, or else of the plugin. */
async function sendPage (
  parts: Parts, { reason, refusal }: OAuthError, loginUrl: string | undefined, reply: FastifyReply
): Promise<FastifyReply> {
  const { status, error, description } = refusal
  const page = { status, error, description, reason, loginUrl, requestId: requestIdOf(reply.request) }
  // The page of the host may be a reply, which has the status too.
  sign(retryLater(reply, status), refusal).code(status)
  const html = await askErrorPage(parts, page, reply)
  if (html === REPLIED) return reply
  if (html === undefined) claim(reply, OWN_PAGE)
  return reply.code(status).type('text/html; charset=utf-8').send(html ?? ownErrorPage(page))
}

/** The page of the host; undefined where it has none, or where its function fails. */
async function askErrorPage (
  { errorPage }: Parts, page: PageRefusal, reply: FastifyReply
): Promise<string | typeof REPLIED | undefined> {
  if (errorPage === undefined) return undefined
  claim(reply, { status: page.status })
  try {
    const html = await callHost(reply, () => errorPage(page, reply.request, reply))
    if (html !== REPLIED && typeof html !== 'string') throw new TypeError('errorPage must return HTML or `reply`')
    return html
  } catch (cause) {
    logFailure(reply.request, 'errorPage threw', cause)
    return reply.sent ? REPLIED : undefined
  }
}

function redirect (reply: FastifyReply, location: string): FastifyReply {
  claim(reply, OWN_REDIRECT)
  return reply.redirect(location, 302)
}

/** RFC 6749 section 4.1.2.1 */
function errorParameters ({ refusal: { error, description } }: OAuthError): string {
  return `error=${error}&error_description=${encodeURIComponent(description)}`
}

const documentation = {
  summary: 'Authorization endpoint',
  description: 'Sends the browser of a user who is logged in back to the portal, with a code (RFC 6749 section 4.1.1).',
  querystring: Type.Object({
    client_id: text('Client identifier of the portal'),
    redirect_uri: text('Callback URL of the portal, exactly as registered'),
    response_type: fixed('code'),
    state: text('Returned unchanged'),
    scope: Type.Optional(text('Accepted and ignored')),
    code_challenge: Type.Optional(text('PKCE challenge (RFC 7636)')),
    code_challenge_method: Type.Optional(fixed('S256'))
  }),
  response: {
    302: {
      description: 'To the portal with code and state, or with error, error_description and state; or to the login',
      type: 'null'
    }
  }
}
