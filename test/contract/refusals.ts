// Every refusal: the request that is refused, the response, the event and the log line. The compiler wants a row for
// each reason of lib/errors.ts; tests of all refusals read this list.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { OAuthErrorCode, PartnerSsoOptions, RefusalReason, RefusalType, Store } from '../../lib/index.ts'
import { PORTAL, RECORDS } from '../app.ts'
import { basic, CHALLENGE, challenge, VERIFIER } from '../wire.ts'
import type { WireResponse, Changes, Wire } from '../wire.ts'

export interface Refusal {
  /** `page`: at the authorization endpoint, before the redirect_uri is trusted. */
  at: 'page' | 'redirect' | 'token' | 'user'
  status: 302 | 400 | 401 | 405 | 500 | 503
  error: OAuthErrorCode
  event: RefusalType
  level: 'debug' | 'info' | 'warn' | 'error'
  /** The fields of the event apart from type, reason and request id. */
  known: Array<'clientId' | 'externalId' | 'signInId' | 'expected' | 'difference' | 'rule'>
  /** What a function of the host or the store threw, or Node; undefined: nothing. */
  cause?: string | RegExp | undefined
  /** Whether the code of the refused request can still be redeemed. */
  sparesCode?: boolean
  /** Options of the plugin under which the refusal occurs; undefined: any. */
  options?: Partial<PartnerSsoOptions<any>>
  provoke (at: Wire): Promise<WireResponse>
}

type More = Partial<Omit<Refusal, 'provoke'>>

const fails = (message: string) => () => { throw new Error(message) }

/** A token request with a valid code, and these changes. */
const token = (changes: Changes, more: More = {}, headers = {}): Refusal => ({
  at: 'token',
  status: 400,
  error: 'invalid_request',
  event: 'request_rejected',
  level: 'warn',
  known: [],
  sparesCode: true,
  ...more,
  provoke: async (at) => await at.token({ code: await at.code('ada'), ...changes }, headers)
})

const grant = (known: Refusal['known'], provoke: Refusal['provoke']): Refusal =>
  ({ ...token({}), error: 'invalid_grant', sparesCode: false, known, provoke })

const client = (changes: Changes, more: More = {}, headers = {}): Refusal => token(
  changes, { status: 401, error: 'invalid_client', event: 'client_authentication_failed', ...more }, headers
)

/** A code with a code_challenge or without, and what is sent as its code_verifier. */
const verifier = (asked: Changes, sent?: string): Refusal => {
  return grant(['clientId', 'externalId', 'signInId'], async (at) => {
    return await at.token({ code: await at.code('ada', asked), code_verifier: sent })
  })
}

/** A token request with a body that the endpoint does not read. */
const body = (type: string, text: string): Refusal => ({
  ...token({}),
  sparesCode: false,
  provoke: (at) => at.send('/oauth/token', { method: 'POST', headers: { 'content-type': type }, body: text })
})

const page = (provoke: Refusal['provoke'], known: Refusal['known'] = []): Refusal => ({
  at: 'page',
  status: 400,
  error: 'invalid_request',
  event: 'request_rejected',
  level: 'warn',
  known,
  provoke
})

const redirect = (changes: Changes, more: More = {}, query = ''): Refusal => ({
  at: 'redirect',
  status: 302,
  error: 'invalid_request',
  event: 'request_rejected',
  level: 'warn',
  known: ['clientId'],
  ...more,
  provoke: (at) => at.authorize(changes, 'ada', {}, query)
})

const denied = (user: string | null, options: Refusal['options'] = {}): Refusal => ({
  ...redirect({}, { error: 'access_denied', event: 'sign_in_refused', level: 'info', options }),
  provoke: (at) => at.authorize({}, user)
})

/** A function of the host failed. */
const failed = (options: Refusal['options'], cause?: string, user: string | null = 'ada'): Refusal =>
  ({ ...denied(user, options), error: 'server_error', level: 'error', cause })

const user = (provoke: Refusal['provoke'], status: 400 | 401, error: OAuthErrorCode): Refusal => ({
  at: 'user',
  status,
  error,
  event: 'request_rejected',
  level: 'warn',
  known: [],
  provoke
})

const down: Store = { put: fails('connect ETIMEDOUT'), take: fails(''), revoke: fails('') }

/** The options of a host that reads the body before Fastify does. */
const bodyRead: Refusal['options'] = {
  routeOptions: {
    async preParsing (_request, _reply, body) {
      body.resume()
      await finished(body as Readable)
      return body
    }
  }
}

export const refusals: Record<RefusalReason, Refusal> = {
  client_id_missing: page((at) => at.authorize({ client_id: undefined }, 'ada')),
  client_id_repeated: page((at) => at.authorize({ client_id: 'x' }, 'ada', {}, '&client_id=y')),
  client_id_unknown: page((at) => at.authorize({ client_id: 'zzz' }, 'ada')),
  redirect_uri_missing: page((at) => at.authorize({ redirect_uri: undefined }, 'ada'), ['clientId', 'expected']),
  redirect_uri_repeated: page((at) => at.authorize({ redirect_uri: 'x' }, 'ada', {}, '&redirect_uri=y'),
    ['clientId', 'expected']),
  redirect_uri_unregistered: page(
    (at) => at.authorize({ redirect_uri: 'https://zzz.example/oauth/callback' }, 'ada'),
    ['clientId', 'expected', 'difference']
  ),
  portal_failed: {
    ...page((at) => at.authorize({}, 'ada')),
    status: 500,
    error: 'server_error',
    level: 'error',
    cause: 'connect ECONNREFUSED',
    options: { portal: fails('connect ECONNREFUSED') }
  },
  portal_timeout: {
    ...page((at) => at.authorize({}, 'ada')),
    status: 503,
    error: 'temporarily_unavailable',
    level: 'error',
    options: { portal: () => new Promise(() => {}), storeTimeout: 1 }
  },
  parameters_excessive: page((at) => at.authorize({}, 'ada', {}, '&p=x'.repeat(1001))),
  parameter_repeated: redirect({}, {}, '&scope=x&scope=y'),
  response_type_missing: redirect({ response_type: undefined }),
  response_type_unsupported: redirect({ response_type: 'token' }, { error: 'unsupported_response_type' }),
  state_missing: redirect({ state: undefined }),
  code_challenge_malformed: redirect({ code_challenge: 'short', code_challenge_method: 'S256' }),
  code_challenge_method_unsupported: redirect({ code_challenge: CHALLENGE, code_challenge_method: 'plain' }),

  not_logged_in: denied(null, { loginPage: undefined }),
  not_eligible: denied('eve'),
  eligibility_undefined: { ...denied('ada', { portalEligibility: () => undefined }), level: 'warn' },
  current_user_failed: failed({ currentUser: fails('The session store is down') }, 'The session store is down'),
  login_page_failed: failed({ loginPage: fails('No tenant has this host') }, 'No tenant has this host', null),
  portal_eligibility_failed: failed({ portalEligibility: fails('No roles') }, 'No roles'),
  user_information_invalid: {
    ...failed({ portalEligibility: () => ({ ...RECORDS.ada, email: '' }) }),
    known: ['clientId', 'externalId', 'rule']
  },

  body_already_read: { ...token({}, { options: bodyRead, level: 'error', sparesCode: false }) },
  content_type_unsupported: body('application/json', '{}'),
  body_unreadable: body('application/x-www-form-urlencoded', 'code=%zz'),
  credentials_in_url: {
    ...body('', ''),
    provoke: (at) => at.send(`/oauth/token?client_id=${PORTAL.clientId}&client_secret=x`, {
      method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'code=x'
    })
  },
  method_not_allowed: { ...token({}), status: 405, sparesCode: false, provoke: (at) => at.send('/oauth/token') },
  grant_type_missing: token({ grant_type: undefined }),
  grant_type_unsupported: token({ grant_type: 'refresh_token' }, { error: 'unsupported_grant_type' }),
  code_missing: token({ code: undefined }),
  authentication_repeated: token({}, {}, basic(PORTAL.clientId, 'x')),
  authentication_missing: client({ client_secret: undefined }),
  authentication_malformed: client(
    { client_id: undefined, client_secret: undefined }, {}, { authorization: `Basic ${btoa('without a colon')}` }
  ),
  client_unknown: client({ client_id: 'partner-321' }),
  client_secret_wrong: client({ client_secret: 'the old one' }, { known: ['clientId'] }),
  redirect_uri_mismatch: token({ redirect_uri: `${PORTAL.redirectUri}/` },
    { error: 'invalid_grant', known: ['clientId', 'signInId', 'expected', 'difference'] }),
  code_malformed: grant(['clientId'], (at) => at.token({ code: 'no code' })),
  code_unknown: grant(['clientId', 'signInId'], (at) => at.token({ code: 'A'.repeat(44) })),
  code_replayed: {
    ...grant(['clientId', 'externalId', 'signInId'], async (at) => {
      const code = await at.code('ada')
      await at.token({ code })
      return await at.token({ code })
    }),
    event: 'code_replayed'
  },
  code_verifier_missing: verifier(challenge()),
  code_verifier_unexpected: verifier({}, VERIFIER),
  code_verifier_mismatch: verifier(challenge(), VERIFIER.replace('d', 'e')),

  credentials_missing: user((at) => at.user(undefined), 401, 'invalid_request'),
  authorization_malformed: user((at) => at.user('not a token'), 400, 'invalid_request'),
  token_unknown: user(async (at) => {
    const token = await at.accessToken('ada')
    // Its locator is known, its proof is not.
    return await at.user(token.slice(0, 43) + token.slice(0, 43) + token.slice(86))
  }, 401, 'invalid_token'),

  store_unavailable: {
    ...redirect({}, { error: 'temporarily_unavailable', event: 'store_unavailable', level: 'debug' }),
    known: ['clientId', 'externalId'],
    cause: 'connect ETIMEDOUT',
    options: { store: down, redis: undefined }
  },
  internal_error: {
    ...token({}, { status: 500, error: 'server_error', level: 'error', sparesCode: false }),
    cause: /^Cannot read properties of undefined/,
    options: {
      routeOptions: {
        async preHandler ({ method, raw }) {
          if (method === 'POST') Object.assign(raw, { url: undefined, originalUrl: undefined })
        }
      }
    }
  }
}
