// How each refusal comes about. The compiler checks that none is missing.
import type { RefusalReason } from '../../../lib/errors.ts'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Store } from '../../../lib/index.ts'
import { PORTAL, recordOf } from '../../helpers/host.ts'
import type { Options, Scene } from './scene.ts'

interface Provocation {
  options?: Options
  provoke (scene: Scene): Promise<unknown>
}

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' // RFC 7636 appendix B
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

const authorize = (changes: Record<string, string | undefined>, user: string | null = 'ada'): Provocation =>
  ({ provoke: ({ portal }) => portal.authorize(changes, user) })

const token = (changes: Record<string, string | undefined>): Provocation =>
  ({ provoke: async ({ portal }) => await portal.token({ code: await portal.code('ada'), ...changes }) })

const withOptions = (options: Options, { provoke }: Provocation): Provocation => ({ options, provoke })

const fails = (message: string) => () => { throw new Error(message) }

/** A request for a code, with a parameter twice. */
const repeated = (name: string): Provocation => ({
  async provoke ({ url }) {
    const query = new URLSearchParams({
      client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 's'
    })
    await fetch(`${url}/oauth/authorize?${query}&${name}=x&${name}=y`, { redirect: 'manual' })
  }
})

/** A token request whose body is not what it should be. */
const body = (type: string, text: string): Provocation => ({
  async provoke ({ url }) {
    await fetch(`${url}/oauth/token`, { method: 'POST', headers: { 'content-type': type }, body: text })
  }
})

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`

const down: Store = { put: fails('connect ETIMEDOUT'), take: fails(''), revoke: fails('') }

export const provocations: Record<RefusalReason, Provocation> = {
  client_id_missing: authorize({ client_id: undefined }),
  client_id_repeated: repeated('client_id'),
  client_id_unknown: authorize({ client_id: 'partner-321' }),
  redirect_uri_missing: authorize({ redirect_uri: undefined }),
  redirect_uri_repeated: repeated('redirect_uri'),
  redirect_uri_unregistered: authorize({ redirect_uri: 'https://test.portal.example/oauth/callback' }),
  portal_failed: withOptions({ portal: fails('connect ECONNREFUSED') }, authorize({})),
  portal_timeout: withOptions({ portal: () => new Promise(() => {}), storeTimeout: 1 }, authorize({})),
  parameters_excessive: authorize(Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`p${index}`, 'x']))),
  parameter_repeated: repeated('scope'),
  response_type_missing: authorize({ response_type: undefined }),
  response_type_unsupported: authorize({ response_type: 'token' }),
  state_missing: authorize({ state: undefined }),
  code_challenge_malformed: authorize({ code_challenge: 'short', code_challenge_method: 'S256' }),
  code_challenge_method_unsupported: authorize({ code_challenge: challenge, code_challenge_method: 'plain' }),

  not_logged_in: authorize({}, null),
  not_eligible: authorize({}, 'nobody'),
  current_user_failed: withOptions({ currentUser: fails('The session store is down') }, authorize({})),
  login_page_failed: withOptions({ loginPage: fails('No tenant has this host name') }, authorize({}, null)),
  portal_eligibility_failed: withOptions({ portalEligibility: fails('The role service is down') }, authorize({})),
  user_information_invalid: withOptions({ portalEligibility: ({ id }) => ({ ...recordOf(id), email: '' }) },
    authorize({})),

  body_already_read: withOptions({
    routeOptions: {
      async preParsing (_request, _reply, body) {
        body.resume()
        await finished(body as Readable)
        return body
      }
    }
  }, token({})),
  content_type_unsupported: body('application/json', '{}'),
  body_unreadable: body('application/x-www-form-urlencoded', 'code=%zz'),
  credentials_in_url: {
    async provoke ({ url }) {
      await fetch(`${url}/oauth/token?client_id=partner-123&client_secret=x`, {
        method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'code=x'
      })
    }
  },
  grant_type_missing: token({ grant_type: undefined }),
  grant_type_unsupported: token({ grant_type: 'refresh_token' }),
  client_secret_missing: token({ client_secret: undefined }),
  code_missing: token({ code: undefined }),
  authentication_repeated: {
    provoke: ({ portal }) => portal.token({ code: 'x' }, { authorization: basic('partner-123:x') })
  },
  authentication_malformed: {
    provoke: ({ portal }) => portal.token(
      { code: 'x', client_id: undefined, client_secret: undefined },
      { authorization: basic('without a colon') }
    )
  },
  client_unknown: token({ client_id: 'partner-321' }),
  client_secret_wrong: token({ client_secret: 'the old one' }),
  redirect_uri_mismatch: token({ redirect_uri: `${PORTAL.redirectUri}/` }),
  code_malformed: token({ code: 'no code' }),
  code_unknown: token({ code: 'A'.repeat(44) }),
  code_replayed: {
    async provoke ({ portal }) {
      const code = await portal.code('ada')
      await portal.token({ code })
      await portal.token({ code })
    }
  },
  code_verifier_missing: {
    async provoke ({ portal }) {
      const code = await portal.code('ada', { code_challenge: challenge, code_challenge_method: 'S256' })
      await portal.token({ code })
    }
  },
  code_verifier_unexpected: token({ code_verifier: verifier }),
  code_verifier_mismatch: {
    async provoke ({ portal }) {
      const code = await portal.code('ada', { code_challenge: challenge, code_challenge_method: 'S256' })
      await portal.token({ code, code_verifier: verifier.replace('d', 'e') })
    }
  },

  credentials_missing: { provoke: ({ portal }) => portal.user(undefined) },
  authorization_malformed: { provoke: ({ portal }) => portal.user('not a token') },
  token_unknown: { provoke: ({ portal }) => portal.user('A'.repeat(63)) },

  store_unavailable: withOptions({ store: down }, authorize({})),
  internal_error: {
    options: {
      routeOptions: { async preHandler (request) { if (request.method === 'POST') request.raw.url = undefined } }
    },
    provoke: token({}).provoke
  }
}
