import { describe } from '../../flow/failure.ts'
import type { Edit, Grant } from '../../flow/legs.ts'
import { by, FORM, inTurn, withBody, withHeader, withQuery } from './edits.ts'
import { Untested } from './errors.ts'
import { impostors } from './impostors.ts'
import type { Try } from './refusals.ts'
import { expectRefusal, named, refusesCode, repeated, without } from './refusals.ts'
import type { Rule } from './rule.ts'
import type { Service, Variant } from './service.ts'
import type { Settings } from './settings.ts'

export const WRONG_SECRET = { caller: { clientSecret: 'not-the-secret' } }

type Row = Omit<Rule, 'severity' | 'test'> & Partial<Pick<Rule, 'severity'>>

/** One token request that must be refused. */
type Refused = Row & Variant

const refuses = ({ changes = {}, caller, ...rule }: Refused): Rule => {
  const leftOut = Object.keys(changes).find((name) => changes[name] === undefined)
  const others = leftOut === undefined ? [] : without(leftOut).slice(1)
  const tries = [
    { changes, caller },
    ...others.map((other) => ({ how: `with ${named(other)}`, changes: other, caller }))
  ]
  return { severity: 'must', ...rule, test: refusesCode(() => tries) }
}

/** Token requests with one wrong or missing parameter beside a good code. */
export const WRONG: readonly Refused[] = [
  {
    id: 'token.wrong-secret',
    section: 'RFC 6749 §3.2.1',
    sentence: 'A wrong client_secret is refused.',
    fix: 'Compare the secret, in constant time, before anything is issued.',
    ...WRONG_SECRET
  },
  {
    id: 'token.unknown-client',
    section: 'RFC 6749 §3.2.1',
    sentence: 'An unknown client_id is refused.',
    fix: 'Compare the client_id with the one given to the integration.',
    caller: { clientId: 'nobody' }
  },
  {
    id: 'token.missing-secret',
    section: 'RFC 6749 §3.2.1',
    sentence: 'A request without client_secret is refused.',
    fix: 'client_secret is required.',
    after: ['token.wrong-secret'],
    changes: { client_secret: undefined },
    caller: { clientSecret: '' }
  },
  {
    id: 'token.foreign-redirect-uri',
    section: 'RFC 6749 §4.1.3',
    sentence: 'Another redirect_uri than the registered one is refused.',
    fix: 'Compare the redirect_uri with the registered one as whole strings.',
    changes: { redirect_uri: 'https://foreign.example/callback' }
  },
  {
    id: 'token.missing-redirect-uri',
    section: 'RFC 6749 §4.1.3',
    sentence: 'A request without redirect_uri is refused.',
    fix: 'redirect_uri is required.',
    changes: { redirect_uri: undefined }
  },
  {
    id: 'token.grant-type',
    section: 'RFC 6749 §4.1.3',
    sentence: 'Another grant_type is refused.',
    fix: 'Accept grant_type=authorization_code only.',
    changes: { grant_type: 'password' }
  },
  {
    id: 'token.missing-grant-type',
    section: 'RFC 6749 §4.1.3',
    sentence: 'A request without grant_type is refused.',
    fix: 'grant_type is required.',
    changes: { grant_type: undefined }
  },
  {
    id: 'token.unknown-code',
    section: 'RFC 6749 §5.2',
    sentence: 'An unknown code is refused.',
    fix: 'Look the code up among those issued.',
    changes: { code: 'an-unknown-code' }
  },
  {
    id: 'token.missing-code',
    section: 'RFC 6749 §4.1.3',
    sentence: 'A request without code is refused.',
    fix: 'code is required.',
    changes: { code: undefined }
  }
]

type TriesOf = (service: Service, grant: Grant) => readonly Try[]

const refusesAll = ({ tries, ...rule }: Row & { tries: TriesOf }): Rule =>
  ({ severity: 'must', ...rule, test: refusesCode(tries) })

/** Who may redeem a code, and by which kind of request. */
export const TOKEN_REFUSAL_RULES: readonly Rule[] = [
  ...WRONG.map(refuses),
  refusesAll({
    id: 'token.impostor',
    section: 'RFC 6749 §3.2.1',
    sentence: 'Without the client_secret there is no token.',
    fix: 'Require the client_id and the client_secret of the portal, ' +
      'whatever else the request has.',
    after: ['token.missing-secret', 'token.wrong-secret', 'token.unknown-client'],
    tries: impostors
  }),
  {
    id: 'token.other-client',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'A code is of no use to another client than the one it was issued to.',
    fix: 'Keep the client_id with the code, and compare it with that of the authenticated client.',
    test: refusesOtherClient
  },
  refusesAll({
    id: 'token.mixed-credentials',
    section: 'RFC 6749 §2.3.1',
    sentence: 'The secret of one client does not authenticate another one.',
    fix: 'Compare the client_secret with that of the client_id of the request.',
    tries: (service) => {
      const { clientId, clientSecret } = secondOf(service)
      return [{ caller: { clientSecret } }, { caller: { clientId } }]
    }
  }),
  refusesAll({
    id: 'token.method',
    section: 'RFC 6749 §3.2',
    sentence: 'Only POST gets a token.',
    fix: 'Register the endpoint for POST alone.',
    // The parameters of GET are in the URL, and so in logs.
    tries: () => [
      { how: 'method GET', edit: formInUrl },
      ...['PUT', 'PATCH', 'DELETE'].map((method): Try =>
        ({ how: `method ${method}`, edit: formBy(method), severity: 'should' }))
    ]
  }),
  refusesAll({
    id: 'token.form-only',
    section: 'RFC 6749 §4.1.3',
    severity: 'should',
    sentence: 'Another body than a form is refused.',
    fix: 'Accept application/x-www-form-urlencoded only.',
    tries: () => [{ edit: asJson }, { edit: withHeader('Content-Type', 'text/plain') }]
  }),
  refusesAll({
    id: 'token.credentials-in-url',
    section: 'RFC 6749 §2.3.1',
    sentence: 'Credentials in the URL are refused.',
    fix: 'Read credentials from the body or the Authorization header only: URLs end up in logs.',
    tries: ({ integration: { clientId, clientSecret } }) => [{
      changes: { client_id: undefined, client_secret: undefined },
      caller: { clientAuthentication: 'form' },
      edit: withQuery({ client_id: clientId, client_secret: clientSecret })
    }]
  }),
  refusesAll({
    id: 'token.two-credentials',
    section: 'RFC 6749 §2.3',
    severity: 'should',
    sentence: 'Two ways of authentication in one request are refused.',
    fix: 'Refuse a request that has both a client_secret and an Authorization header.',
    after: ['token.wrong-secret'],
    tries: ({ integration: { clientId, clientSecret } }) => {
      const wrong = WRONG_SECRET.caller.clientSecret
      return [[clientSecret, wrong], [wrong, clientSecret]].map(([inForm, inBasic = '']) => ({
        changes: { client_id: clientId, client_secret: inForm },
        caller: { clientAuthentication: 'basic', clientSecret: inBasic }
      }))
    }
  }),
  refusesAll({
    id: 'token.repeated',
    section: 'RFC 6749 §3.2',
    severity: 'should',
    sentence: 'A repeated parameter is an error.',
    fix: 'Refuse a request with a repeated parameter.',
    tries: ({ integration }, { code }) => {
      const { redirectUri, clientId, clientSecret, clientAuthentication } = integration
      const credentials = { client_id: clientId, client_secret: clientSecret }
      return repeated({
        ...clientAuthentication === 'form' ? credentials : {},
        redirect_uri: redirectUri,
        grant_type: 'authorization_code',
        code
      })
    }
  })
]

/** @throws Untested where none was given */
function secondOf ({ settings: { second } }: Service): NonNullable<Settings['second']> {
  if (second === null) throw new Untested('it needs --second-client-id and its secret')
  return second
}

async function refusesOtherClient (service: Service): Promise<void> {
  const caller = secondOf(service)
  const { exchange } = await service.redeem({ code: 'an-unknown-code' }, { caller })
  const isKnown = exchange.response?.status === 400
  expectRefusal(await service.redeem(await service.code(), { caller }))
  // One of the two client_ids is authenticated, and the code belongs to the other one.
  const { clientId } = service.integration
  const mixed = {
    changes: { client_id: clientId }, caller: { ...caller, clientAuthentication: 'basic' as const }
  }
  await refusesCode(() => [{ how: `with Basic and client_id=${clientId}`, ...mixed }])(service)
  if (!isKnown) throw new Untested(`the second client is refused for itself: ${describe(exchange)}`)
}

const formInUrl: Edit = ({ body, ...request }) =>
  ({ ...request, method: 'GET', url: `${request.url}?${body}` })

const formBy = (method: string): Edit => (request) =>
  inTurn(by(method), withBody(FORM, String(request.body)))(request)

const asJson: Edit = (request) => {
  const parameters = Object.fromEntries(new URLSearchParams(request.body))
  return withBody('application/json', JSON.stringify(parameters))(request)
}
