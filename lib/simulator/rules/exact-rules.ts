import type { Edit, Grant } from '../../flow/legs.ts'
import { randomText } from '../../flow/requests.ts'
import type { Leg } from '../../flow/steps.ts'
import { nearest, nearestUris, NOWHERE_RIGHT } from './nearest.ts'
import type { Wrong } from './nearest.ts'
import { expectNoCode, expectNoRedirect, expectRefusal, refusesEach } from './refusals.ts'
import type { Rule, Test } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

const WHOLE = 'Compare whole texts, as they are: no prefix, no pattern, no change of case, nothing trimmed or decoded.'
const SECRETS =
  'Compare the whole client_secret, as it is, in constant time: no prefix, no change of case, no trimming.'
/** RFC 6749 §3.1.1, OAuth 2.0 Multiple Response Type Encoding Practices. */
const OTHER_TYPES = [
  'token', 'id_token', 'none', 'code token', 'token code', 'code id_token', 'code,token'
]
const OTHER_GRANTS = [
  'client_credentials', 'password', 'refresh_token', 'implicit', 'code', 'authorization_code token'
]

/** 128 bits as base64url. */
const SHORTEST_SECRET = 22
/** Of examples and manuals. */
const USUAL_SECRETS = ['secret', 'changeme', 'password', 'admin', 'test', 'client_secret']

const named = (values: string[]): Wrong[] => values.map((value) => ({ how: `as ${JSON.stringify(value)}`, value }))

/**
 * Each value in place of the right one, beside the same code. Where a refusal uses it up, or it expires, the refusals
 * say nothing: then each value has a code of its own.
 */
const refusesBeside = async (
  service: Service,
  parameter: string,
  wrong: readonly Wrong[],
  redeem: (grant: Grant, value: string) => Promise<Leg<string>>
): Promise<void> => {
  const grant = await service.code()
  await refusesEach(parameter, wrong, async (value) => expectRefusal(await redeem(grant, value)))
  if ((await service.redeem(grant)).reading.ok) return
  await refusesEach(parameter, wrong, async (value) =>
    expectRefusal(await redeem(await service.code(), value)))
}

const refusesAtToken = (parameter: string, wrongOf: (service: Service) => Wrong[]): Test => (service) =>
  refusesBeside(service, parameter, wrongOf(service), (grant, value) =>
    service.redeem(grant, { [parameter]: value }))

/** The same for credentials, as the portal sends them: in the form or as HTTP Basic. */
const refusesCaller = (parameter: string, option: 'clientId' | 'clientSecret'): Test => (service) => {
  const near = nearest(service.integration[option])
  if (option === 'clientSecret') hide(service, near)
  const usual = option === 'clientSecret' ? named(USUAL_SECRETS) : []
  return refusesBeside(service, parameter, [...near, ...usual, ...NOWHERE_RIGHT], (grant, value) =>
    service.redeem(grant, {}, { [option]: value }))
}

/** Each value that an endpoint compares, against the wrong values nearest to the right one. */
export const AUTHORIZE_EXACT_RULES: readonly Rule[] = [
  {
    id: 'authorize.redirect-uri-exact',
    section: 'RFC 9700 §2.1',
    severity: 'must',
    sentence: 'The redirect_uri is compared as a whole text.',
    fix: `${WHOLE} Do not parse it first: to a parser different addresses are equal.`,
    after: ['authorize.foreign-redirect-uri'],
    test: (service) => {
      const uris = nearestUris(service.integration.redirectUri)
      return refusesEach('redirect_uri', uris, (value) => expectNoRedirect(service, { redirect_uri: value }, value))
    }
  },
  {
    id: 'authorize.client-exact',
    section: 'RFC 6749 §1.2',
    severity: 'must',
    sentence: 'The client_id is compared as a whole text.',
    fix: WHOLE,
    after: ['authorize.unknown-client'],
    test: (service) => {
      const wrong = [...nearest(service.integration.clientId), ...NOWHERE_RIGHT]
      return refusesEach('client_id', wrong, (value) => expectNoRedirect(service, { client_id: value }))
    }
  },
  {
    id: 'authorize.response-type-exact',
    section: 'RFC 6749 §3.1.1',
    severity: 'must',
    sentence: 'No response_type but code gives a code or a token.',
    fix: 'Accept response_type=code only, as a whole text.',
    after: ['authorize.response-type'],
    test: (service) => {
      const wrong = [...named(OTHER_TYPES), ...nearest('code'), ...NOWHERE_RIGHT]
      return refusesEach('response_type', wrong, async (value) =>
        expectNoCode(await service.authorize({ response_type: value })))
    }
  }
]

export const TOKEN_EXACT_RULES: readonly Rule[] = [
  {
    id: 'token.short-secret',
    section: 'RFC 6749 §10.10',
    severity: 'should',
    sentence: 'The client_secret is long enough not to be guessed.',
    fix: 'Make it of 128 random bits from a cryptographic source: 22 characters of base64url.',
    test: async ({ integration: { clientSecret } }) =>
      expect(clientSecret.length >= SHORTEST_SECRET, `a client_secret of ${clientSecret.length} characters`)
  },
  {
    id: 'token.secret-exact',
    section: 'RFC 6749 §3.2.1',
    severity: 'must',
    sentence: 'The client_secret is compared as a whole text.',
    fix: SECRETS,
    after: ['token.wrong-secret'],
    test: refusesCaller('client_secret', 'clientSecret')
  },
  {
    id: 'token.client-exact',
    section: 'RFC 6749 §3.2.1',
    severity: 'must',
    sentence: 'The client_id is compared as a whole text.',
    fix: WHOLE,
    after: ['token.unknown-client'],
    test: refusesCaller('client_id', 'clientId')
  },
  {
    id: 'token.redirect-uri-exact',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'The redirect_uri is compared as a whole text.',
    fix: WHOLE,
    after: ['token.foreign-redirect-uri'],
    test: refusesAtToken('redirect_uri', ({ integration }) => nearestUris(integration.redirectUri))
  },
  {
    id: 'token.grant-type-exact',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'No grant_type but authorization_code gives a token.',
    fix: 'Accept grant_type=authorization_code only, as a whole text.',
    after: ['token.grant-type'],
    test: refusesAtToken('grant_type', () => [...named(OTHER_GRANTS), ...nearest('authorization_code')])
  },
  {
    id: 'token.code-exact',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'The code is compared as a whole text.',
    fix: `${WHOLE} Look it up by its whole text; no code is a pattern or a member of an object.`,
    after: ['token.unknown-code'],
    test: async (service) => {
      // A refused value that is not the code does not use it up.
      const { code, verifier } = await service.code()
      const near = hide(service, nearSecrets(code))
      return refusesEach('code', [...near, ...NOWHERE_RIGHT], async (value) =>
        expectRefusal(await service.redeem({ code, verifier }, { code: value })))
    }
  },
  {
    id: 'token.verifier-exact',
    section: 'RFC 7636 §4.6',
    severity: 'must',
    sentence: 'The code_verifier is compared as a whole text.',
    fix: 'Compare S256 of the code_verifier with the code_challenge, both as whole texts.',
    after: ['token.pkce'],
    test: async (service) => {
      const right = randomText()
      const near = hide(service, nearest(right))
      return refusesEach('code_verifier', near, async (value) => {
        const { code } = await service.granted(right)
        expectRefusal(await service.redeem({ code, verifier: value }))
      })
    }
  }
]

export const USER_EXACT_RULES: readonly Rule[] = [
  {
    id: 'user.token-exact',
    section: 'RFC 6750 §3.1',
    severity: 'must',
    sentence: 'The access token is compared as a whole text.',
    fix: `${WHOLE} Look it up by its whole text; no token is a pattern or a member of an object.`,
    after: ['user.unknown-token'],
    test: async (service) => {
      const token = await service.accessToken()
      const wrong = [...hide(service, nearSecrets(token)), ...NOWHERE_RIGHT].filter(isHeader)
      return refusesEach('the access token', wrong, async (value) =>
        expectRefusal(await service.user(token, bearer(value))))
    }
  }
]

/** Not as a token of the service: words such as "null" are no secrets. */
const bearer = (value: string): Edit => (request) => ({
  ...request,
  headers: request.headers.map(([name, own]) => [name, name === 'Authorization' ? `Bearer ${value}` : own])
})

/** A header has no line breaks, and readers drop the spaces at its ends. */
const isHeader = ({ value }: Wrong): boolean => /^[\x21-\x7e]+$/.test(value)

/**
 * Wrong values of a code or token. Where all letters have one case, as in a UUID, the case says nothing, and a database
 * may ignore it. Decoders of JWT and JWE pass over white space: that makes nothing easier to guess.
 */
function nearSecrets (right: string): Wrong[] {
  const hasOneCase = right === right.toLowerCase() || right === right.toUpperCase()
  return nearest(right)
    .filter(({ value }) => !hasOneCase || value.toLowerCase() !== right.toLowerCase())
    .map((wrong) => wrong.value.trim() === right ? { ...wrong, severity: 'should' } : wrong)
}

/** A service may repeat what it refuses: it says nearly the whole secret. */
function hide (service: Service, near: Wrong[]): Wrong[] {
  for (const { value } of near) service.secrets.add(value)
  return near
}
