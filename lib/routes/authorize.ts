import type { FastifyReply, FastifyRequest } from 'fastify'
import { isCodeChallenge } from '../grants/pkce.ts'
import { callHook, isOverdue } from '../http/call-hook.ts'
import { fixed, refusal, serverErrors, text } from '../http/documentation.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { ownErrorPage, prefersPage } from '../http/error-page.ts'
import { loginLocation } from '../http/login-location.ts'
import { Parameters, queryOf, safeInQuery } from '../http/parameters.ts'
import { redirectUriDifference } from '../http/redirect-uri-difference.ts'
import { letHostSendPage, redirect, sendPage, sendRefusal } from '../http/responses.ts'
import { OAuthError } from '../errors.ts'
import type { PublicError, RefusalContext, RefusalReason } from '../errors.ts'
import { logFailure, requestIdOf } from '../events.ts'
import type { PortalLevel } from '../portal/portal.ts'
import type { Portals } from '../portal/portals.ts'
import type { PortalInformation, RegisteredPortal } from '../portal/registered-portal.ts'
import * as Type from '../typebox.ts'
import { readUserInformation } from '../user-information.ts'
import type { UserInformation } from '../user-information.ts'
import type { Parts } from './parts.ts'

/** Most characters of a state as it is sent back. A request line that Node reads has no longer one. */
const STATE_LIMIT = 16_384

/** Most characters of the URL that the login leads back to. */
const RETURN_LIMIT = 4000

/** GET /oauth/authorize: the authorization endpoint (RFC 6749 section 3.1). */
export function authorizeRoute (parts: Parts): Endpoint {
  const { portals, codes, reporter, storeTimeout, returnCookie } = parts
  return {
    name: 'authorize',
    method: 'GET',
    url: '/oauth/authorize',
    documentation,

    async handle (request, reply) {
      // The host may have rewritten the URL; @fastify/express decodes it.
      const parameters = new Parameters(queryOf(request.originalUrl))
      const portal = await identifyPortal(parameters, portals)
      const state = stateOf(parameters)
      let known: RefusalContext = { clientId: portal.information.clientId }
      try {
        const codeChallenge = checkParameters(parameters, state)
        const login = await askCurrentUser(parts, request, reply, portal)
        if (login.replied) return reply
        if (!login.user) return sendToLogin(parts, parameters, request, reply, portal)
        const eligibility = await askEligibility(parts, login.user, request, reply, portal)
        if (eligibility.replied) return reply
        const { record } = eligibility
        known = { ...known, externalId: record.external_id }
        const deadline = performance.now() + storeTimeout
        const { code, signInId } = await codes.issue(portal, { codeChallenge, record }, deadline)
        // Fastify has responded.
        if (isOverdue(request)) return reply
        returnCookie.take(request, reply)
        reporter.report(request, { type: 'code_issued', reason: 'ok', ...known, signInId })
        return redirect(reply, portal.callback(`code=${code}`, state))
      } catch (error) {
        throw OAuthError.from(error, known, { callback: (added) => portal.callback(added, state) })
      }
    },

    refuse (error, reply) {
      // Where the portal is not known, and there is only one, a person can start again there.
      const { callback, loginUrl = portals.only?.information.loginUrl } = error.wayBack
      if (callback !== undefined) return redirect(reply, callback(errorParameters(error.refusal)), error.refusal)
      if (prefersPage(reply.request.headers.accept)) return showErrorPage(parts, error, loginUrl, reply)
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

/** The state as it was encoded. One that is repeated, or too long as it is sent back, is refused and not echoed. */
function stateOf (parameters: Parameters): string | undefined {
  const raw = parameters.raw('state')
  if (raw === undefined || parameters.isRepeated('state')) return undefined
  const state = safeInQuery(raw)
  return state.length > STATE_LIMIT ? undefined : state
}

/** Checks the other parameters (RFC 6749 section 4.1.1). Returns the code_challenge, or the empty string. */
function checkParameters (parameters: Parameters, state: string | undefined): string {
  if (parameters.repeated) throw new OAuthError('parameter_repeated')
  const responseType = parameters.get('response_type')
  if (responseType === undefined) throw new OAuthError('response_type_missing')
  if (responseType !== 'code') throw new OAuthError('response_type_unsupported')
  // Optional in RFC 6749, required here: the portal relies on it.
  if (parameters.raw('state') === undefined) throw new OAuthError('state_missing')
  // It is neither missing nor repeated: it is too long.
  if (state === undefined) throw new OAuthError('parameters_excessive')
  return checkChallenge(parameters.get('code_challenge'), parameters.get('code_challenge_method'))
}

/** PKCE is optional for the portal; with it, `plain` is refused (RFC 9700 section 2.1.1). */
function checkChallenge (challenge: string | undefined, method: string | undefined): string {
  if (challenge === undefined && method === undefined) return ''
  if (challenge === undefined || !isCodeChallenge(challenge)) throw new OAuthError('code_challenge_malformed')
  if (method !== 'S256') throw new OAuthError('code_challenge_method_unsupported')
  return challenge
}

/** Asks the host who is logged in. */
async function askCurrentUser (
  { currentUser, reporter }: Parts, request: FastifyRequest, reply: FastifyReply,
  { information: { clientId } }: RegisteredPortal
): Promise<{ replied: true } | { replied: false, user: unknown }> {
  const result = await askHost(reply, 'current_user_failed', () => currentUser(request, reply))
  if (!result.replied) return { replied: false, user: result.value }
  if (!isOverdue(request)) {
    reporter.report(request, { type: 'login_required', reason: 'current_user_replied', clientId })
  }
  return result
}

/** Asks the host for the record with which the user may enter, and checks it. */
async function askEligibility (
  { portalEligibility, reporter }: Parts, user: unknown, request: FastifyRequest, reply: FastifyReply,
  { information: portal }: RegisteredPortal
): Promise<{ replied: true } | { replied: false, record: UserInformation }> {
  const result = await askHost(reply, 'portal_eligibility_failed',
    () => portalEligibility(user, { portal, request, reply }))
  if (!result.replied) return { replied: false, record: checkRecord(result.value, portal) }
  if (!isOverdue(request)) reporter.refused(request, new OAuthError('not_eligible', { clientId: portal.clientId }))
  return result
}

/** Calls `currentUser` or `portalEligibility`. */
async function askHost (
  reply: FastifyReply, reason: RefusalReason, call: () => unknown
): Promise<{ replied: true } | { replied: false, value: unknown }> {
  try {
    const result = await callHook(reply, reason, call)
    // No code may follow: the response may be a page that asks for a second factor.
    if (!result.replied && result.value && result.hasBegunReply) throw new Error('Sent a reply without `return reply`')
    return result
  } catch (cause) {
    throw new OAuthError(reason, { cause })
  }
}

/** The record of an eligible user (RFC 6749 section 4.1.2.1: access_denied). */
function checkRecord (given: unknown, { level }: PortalInformation): UserInformation {
  if (given === undefined) throw new OAuthError('eligibility_undefined')
  if (!given) throw new OAuthError('not_eligible')
  const { record, faults: [rule] } = readRecord(given, level)
  if (rule === undefined) return record
  const { external_id: externalId } = record
  const known = externalId && typeof externalId === 'string' ? { externalId } : {}
  throw new OAuthError('user_information_invalid', { ...known, rule })
}

/** Reads the record, whose getters may throw: they are the host's. */
function readRecord (given: unknown, level: PortalLevel): ReturnType<typeof readUserInformation> {
  try {
    return readUserInformation(given, level)
  } catch (cause) {
    throw new OAuthError('portal_eligibility_failed', { cause })
  }
}

/** Sends the browser to the login page. */
function sendToLogin (
  { loginPage, returnCookie, reporter }: Parts, parameters: Parameters, request: FastifyRequest, reply: FastifyReply,
  { information: { clientId } }: RegisteredPortal
): FastifyReply {
  if (loginPage === undefined) throw new OAuthError('not_logged_in')
  const returnTo = `${returnCookie.path}?${knownQuery(parameters)}`
  if (returnTo.length > RETURN_LIMIT) throw new OAuthError('parameters_excessive')
  let location
  try {
    location = loginLocation(loginPage, returnTo, request)
  } catch (cause) {
    throw new OAuthError('login_page_failed', { cause })
  }
  returnCookie.remember(request, reply, returnTo)
  reporter.report(request, { type: 'login_required', reason: 'login_page', clientId })
  return redirect(reply, location)
}

/**
 * The parameters that the endpoint knows, as they were encoded. A secret that somebody has put beside them is dropped.
 */
function knownQuery (parameters: Parameters): string {
  return Object.keys(documentation.querystring.properties).flatMap((name) => {
    const value = parameters.raw(name)
    return value === undefined ? [] : `${name}=${safeInQuery(value)}`
  }).join('&')
}

/** Shows a person why the sign-in cannot go back to the portal: by the page of the host, or else of the plugin. */
async function showErrorPage (
  { errorPage }: Parts, { reason, refusal }: OAuthError, loginUrl: string | undefined, reply: FastifyReply
): Promise<FastifyReply> {
  const { status, error, description } = refusal
  const page = { status, error, description, reason, loginUrl, requestId: requestIdOf(reply.request) }
  if (errorPage === undefined) return sendPage(reply, 'page', page, ownErrorPage(page))
  letHostSendPage(reply, page)
  try {
    const result = await callHook(reply, 'errorPage threw', () => errorPage(page, reply.request, reply))
    if (result.replied) return reply
    if (typeof result.value !== 'string') throw new TypeError('errorPage must return HTML or `reply`')
    return sendPage(reply, 'host page', page, result.value)
  } catch (cause) {
    logFailure(reply.request, 'errorPage threw', cause)
    return sendPage(reply, 'page', page, ownErrorPage(page))
  }
}

/** RFC 6749 section 4.1.2.1 */
function errorParameters ({ error, description }: PublicError): string {
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
    },
    // Where the redirect_uri cannot be trusted (RFC 6749 section 4.1.2.1).
    400: refusal('invalid_request: the client_id or the redirect_uri is not registered. A browser gets a page'),
    ...serverErrors
  }
}
