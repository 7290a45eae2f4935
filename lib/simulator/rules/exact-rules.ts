import type { Changes } from '../../flow/requests.ts'
import { nearest, nearestUris, NEVER_RIGHT, wordsOf } from './nearest.ts'
import type { Wrong } from './nearest.ts'
import { refusesVerifiers, VERIFIER } from './pkce-rules.ts'
import { expectNoCode, expectNoRedirect, inPlaceOf, refusesCode, refusesEach } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { CODES, hidden, TOKENS } from './single-use.ts'

const WHOLE = 'Compare whole texts, as they are: ' +
  'no prefix, no pattern, no change of case, nothing trimmed or decoded.'
const SECRETS =
  'Compare the whole client_secret, as it is, in constant time: no prefix, no change of case, no ' +
  'trimming.'
/** RFC 6749 §3.1.1, OAuth 2.0 Multiple Response Type Encoding Practices. */
const OTHER_TYPES = [
  'token', 'id_token', 'none', 'code token', 'token code', 'code id_token', 'code,token'
]
const OTHER_GRANTS = [
  'client_credentials', 'password', 'refresh_token', 'implicit', 'code', 'authorization_code token'
]

/** 128 bits as base64url. */
const SHORTEST_SECRET = 22
/** Secrets of examples and manuals. */
const USUAL_SECRETS = ['secret', 'changeme', 'password', 'admin', 'test', 'client_secret']

/** A value that an endpoint compares. */
interface Compared extends Omit<Rule, 'severity' | 'test'> {
  parameter: string
  /** The wrong values nearest to it. */
  wrong: (service: Service) => readonly Wrong[]
}

/** At the authorization endpoint, with what is expected there. */
type ComparedAtAuthorize = Compared & {
  expects: (service: Service, changes: Changes) => Promise<void>
}

const atAuthorize = ({ parameter, wrong, expects, ...rule }: ComparedAtAuthorize): Rule => ({
  ...rule,
  severity: 'must',
  test: (service) => refusesEach(inPlaceOf(parameter, wrong(service)), ({ changes }) =>
    expects(service, changes))
})

/** At the token endpoint: a credential is sent in the form and as HTTP Basic. */
type ComparedAtToken = Compared & { credential?: 'clientId' | 'clientSecret' }

const atToken = ({ parameter, wrong, credential, ...rule }: ComparedAtToken): Rule => ({
  ...rule,
  severity: 'must',
  test: refusesCode((service) => {
    const values = wrong(service)
    if (credential === undefined) return inPlaceOf(parameter, values)
    // Many clients encode nothing in Basic: a service may compare a part also as it was sent.
    const sentAlike = formDecoded(service.integration[credential])
    const names = { form: parameter, basic: `${parameter} in HTTP Basic` }
    return (['form', 'basic'] as const).flatMap((clientAuthentication) =>
      inPlaceOf(names[clientAuthentication], values)
        .filter(({ value }) => clientAuthentication === 'form' || value !== sentAlike)
        .map(({ how, value }) => ({ how, caller: { [credential]: value, clientAuthentication } })))
  })
})

const formDecoded = (text: string): string =>
  new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') as string

/** At the authorization endpoint. */
export const AUTHORIZE_EXACT_RULES: readonly Rule[] = [
  atAuthorize({
    id: 'authorize.redirect-uri-exact',
    section: 'RFC 9700 §2.1',
    sentence: 'The redirect_uri is compared as a whole text.',
    fix: `${WHOLE} Do not parse it first: to a parser different addresses are equal.`,
    after: ['authorize.foreign-redirect-uri'],
    parameter: 'redirect_uri',
    expects: expectNoRedirect,
    wrong: ({ integration: { redirectUri } }) => nearestUris(redirectUri)
  }),
  atAuthorize({
    id: 'authorize.client-exact',
    section: 'RFC 6749 §1.2',
    sentence: 'The client_id is compared as a whole text.',
    fix: WHOLE,
    after: ['authorize.unknown-client'],
    parameter: 'client_id',
    expects: expectNoRedirect,
    wrong: ({ integration: { clientId } }) => [...nearest(clientId), ...NEVER_RIGHT]
  }),
  atAuthorize({
    id: 'authorize.response-type-exact',
    section: 'RFC 6749 §3.1.1',
    sentence: 'No response_type but code gives a code or a token.',
    fix: 'Accept response_type=code only, as a whole text.',
    after: ['authorize.response-type'],
    parameter: 'response_type',
    expects: expectNoCodeFor,
    wrong: () => [...wordsOf(OTHER_TYPES), ...nearest('code'), ...NEVER_RIGHT]
  })
]

async function expectNoCodeFor (service: Service, changes: Changes): Promise<void> {
  expectNoCode(await service.authorize(changes))
}

/** At the token endpoint, with a good code. */
export const TOKEN_EXACT_RULES: readonly Rule[] = [
  {
    id: 'token.short-secret',
    section: 'RFC 6749 §10.10',
    severity: 'should',
    sentence: 'The client_secret is long enough not to be guessed.',
    fix: 'Make it of 128 random bits from a cryptographic source: 22 characters of base64url.',
    test: async ({ integration: { clientSecret: { length } } }) =>
      expect(length >= SHORTEST_SECRET, `a client_secret of ${length} characters`)
  },
  atToken({
    id: 'token.secret-exact',
    section: 'RFC 6749 §3.2.1',
    sentence: 'The client_secret is compared as a whole text.',
    fix: SECRETS,
    after: ['token.wrong-secret'],
    parameter: 'client_secret',
    credential: 'clientSecret',
    wrong: (service) => [
      ...hidden(service, nearest(service.integration.clientSecret)),
      ...wordsOf(USUAL_SECRETS),
      ...NEVER_RIGHT
    ]
  }),
  atToken({
    id: 'token.client-exact',
    section: 'RFC 6749 §3.2.1',
    sentence: 'The client_id is compared as a whole text.',
    fix: WHOLE,
    after: ['token.unknown-client'],
    parameter: 'client_id',
    credential: 'clientId',
    wrong: ({ integration: { clientId } }) => [...nearest(clientId), ...NEVER_RIGHT]
  }),
  atToken({
    id: 'token.redirect-uri-exact',
    section: 'RFC 6749 §4.1.3',
    sentence: 'The redirect_uri is compared as a whole text.',
    fix: WHOLE,
    after: ['token.foreign-redirect-uri'],
    parameter: 'redirect_uri',
    wrong: ({ integration: { redirectUri } }) => nearestUris(redirectUri)
  }),
  atToken({
    id: 'token.grant-type-exact',
    section: 'RFC 6749 §4.1.3',
    sentence: 'No grant_type but authorization_code gives a token.',
    fix: 'Accept grant_type=authorization_code only, as a whole text.',
    after: ['token.grant-type'],
    parameter: 'grant_type',
    wrong: () => [...wordsOf(OTHER_GRANTS), ...nearest('authorization_code')]
  }),
  {
    id: 'token.code-exact',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'The code is compared as a whole text.',
    fix: `${WHOLE} Look it up by its whole text; no code is a pattern or a member of an object.`,
    after: ['token.unknown-code'],
    test: CODES.exact
  },
  {
    id: 'token.verifier-exact',
    section: 'RFC 7636 §4.6',
    severity: 'must',
    sentence: 'The code_verifier is compared as a whole text.',
    fix: 'Compare S256 of the code_verifier with the code_challenge, both as whole texts.',
    after: ['token.pkce'],
    test: refusesVerifiers((service) =>
      inPlaceOf('code_verifier', hidden(service, nearest(VERIFIER))))
  }
]

export const USER_EXACT_RULE: Rule = {
  id: 'user.token-exact',
  section: 'RFC 6750 §3.1',
  severity: 'must',
  sentence: 'The access token is compared as a whole text.',
  fix: `${WHOLE} Look it up by its whole text; no token is a pattern or a member of an object.`,
  after: ['user.unknown-token'],
  test: TOKENS.exact
}
