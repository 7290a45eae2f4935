import type { Exchange } from '../../flow/wire.ts'
import { inTurn, withHeader, withQuery } from './edits.ts'
import { INJECTION, reflectionIn, SCRIPT_URL, SPLIT } from './reflections.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'

const ESCAPE = 'Put nothing of the request into a page, or escape &, <, >, " and \' in it.'
const NAMES = ['client_id', 'redirect_uri', 'response_type', 'state', 'scope', 'code_challenge',
  'code_challenge_method', 'error', 'error_description', INJECTION]
const FORM_NAMES = [
  'client_id', 'client_secret', 'redirect_uri', 'grant_type', 'code', 'code_verifier', INJECTION
]
const TEXTS = [INJECTION, SCRIPT_URL, SPLIT]

/** Does a response repeat a parameter where a browser would run it? */
export const REFLECTION_RULE: Rule = {
  id: 'authorize.no-injection',
  section: 'RFC 6749 §10.14',
  severity: 'must',
  sentence:
    'No page repeats text of the request as markup: neither an error page nor the login page.',
  fix: ESCAPE,
  test: async (service) => {
    for (const name of NAMES) {
      for (const text of name === 'redirect_uri'
        ? [`https://foreign.example/${INJECTION}`, ...TEXTS]
        : TEXTS) {
        const changes = { [name]: text }
        expectNoReflection((await service.authorize(changes)).exchange, name)
        if (name !== 'redirect_uri' && text === INJECTION) {
          const refused = { redirect_uri: 'https://foreign.example/', ...changes }
          expectNoReflection((await service.authorize(refused)).exchange, `${name}, in a refusal`)
        }
        if (name === 'state' || name === 'scope' || name === INJECTION) {
          expectNoReflection(
            (await service.authorize(changes, service.anonymous)).exchange, `${name}, at the login`
          )
        }
      }
    }
  }
}

/** The endpoints that the portal calls: a page of another site can send a browser there. */
export const TOKEN_REFLECTION_RULES: readonly Rule[] = [
  {
    id: 'token.no-injection',
    section: 'RFC 6749 §10.14',
    severity: 'must',
    sentence: 'No response of the token endpoint is a page with text of the request.',
    fix: `${ESCAPE} A page of another site can send a form here. Better respond with JSON.`,
    test: async (service) => {
      for (const name of FORM_NAMES) {
        const sent = { changes: { [name]: INJECTION }, edit: asBrowser }
        const { exchange } = await service.redeem({ code: 'an-unknown-code' }, sent)
        expectNoReflection(exchange, name)
      }
    }
  },
  {
    id: 'user.no-injection',
    section: 'RFC 6749 §10.14',
    severity: 'must',
    sentence: 'No response of the user endpoint is a page with text of the request.',
    fix: ESCAPE,
    test: async (service) => {
      for (const name of ['access_token', INJECTION]) {
        const edit = inTurn(asBrowser, noToken, withQuery({ [name]: INJECTION }))
        const { exchange } = await service.user('an-unknown-token', edit)
        expectNoReflection(exchange, name)
      }
    }
  }
]

/** A browser that sends a form asks for a page. */
const asBrowser = withHeader('Accept', 'text/html')
const noToken = withHeader('Authorization')

function expectNoReflection (exchange: Exchange, name: string): void {
  const reflection = reflectionIn(exchange)
  expect(
    reflection === null, `${reflection}: ${name === INJECTION ? 'the name of a parameter' : name}`
  )
}
