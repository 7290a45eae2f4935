import { codeOf } from '../../flow/browser.ts'
import { originOf, weaknessOf } from './guessable.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { sentToPortal } from './service.ts'
import { CODES, TOKENS } from './single-use.ts'

/** Codes or tokens that are compared. */
const SAMPLES = 12
const RANDOM =
  'Make it of 128 random bits at least from a cryptographic source (crypto.randomBytes): ' +
  'not of a counter, the time, the user or Math.random.'
const SIGNED =
  'Look it up as a whole text, or verify a signature (of one expected algorithm, under a random ' +
  'key) over everything that is read.'

/** Codes that were issued at the same time. */
export const CODE_MADE_RULES: readonly Rule[] = [
  {
    id: 'authorize.fresh-code',
    section: 'RFC 6749 §10.10',
    severity: 'must',
    sentence: 'Each code is new and has enough random bits not to be guessed.',
    fix: RANDOM,
    test: async (service) => {
      const grants = await Promise.all(Array.from({ length: SAMPLES }, () => service.granted()))
      const states = grants.map(({ arrival }) => sentToPortal(arrival).getAll('state'))
      expectUnlike(service, grants.map(({ code }) => code), states)
      const again = () => service.authorize({ state: 'the-state' })
      const code = codeOf(await again())
      expect(code === null || code !== codeOf(await again()), 'the same code for the same request')
    }
  }
]

/**
 * Tokens that were issued one after the other; codes and tokens that are derived from known text,
 * or can be edited.
 */
export const MADE_RULES: readonly Rule[] = [
  {
    id: 'token.fresh-token',
    section: 'RFC 6749 §10.10',
    severity: 'must',
    sentence: 'Each token is new and has enough random bits not to be guessed.',
    fix: RANDOM,
    test: async (service) => {
      const samples: Array<{ code: string, token: string }> = []
      while (samples.length < SAMPLES) {
        const grant = await service.granted()
        samples.push({ code: grant.code, token: (await service.token(grant)).token })
      }
      expectUnlike(service, samples.map(({ token }) => token), samples.map(({ code }) => [code]))
    }
  },
  {
    id: 'authorize.derived-code',
    section: 'RFC 6749 §10.10',
    severity: 'must',
    sentence: 'A code is not made of what others know.',
    fix: RANDOM,
    test: async (service) => {
      const from = Date.now()
      const { code, arrival } = await service.granted()
      expectNoOrigin(code, [...knownOf(service), ...sentToPortal(arrival).getAll('state')], from)
    }
  },
  {
    id: 'token.derived-token',
    section: 'RFC 6749 §10.10',
    severity: 'must',
    sentence: 'A token is not made of its code, nor of what others know.',
    fix: RANDOM,
    test: async (service) => {
      const grant = await service.granted()
      const from = Date.now()
      const { token } = await service.token(grant)
      expectNoOrigin(token, [grant.code, ...knownOf(service)], from)
    }
  },
  {
    id: 'token.forged-code',
    section: 'RFC 6749 §10.10',
    severity: 'must',
    sentence: 'A code that was edited is refused.',
    fix: SIGNED,
    after: ['token.unknown-code', 'token.code-exact'],
    test: CODES.forged
  },
  {
    id: 'user.forged-token',
    section: 'RFC 6750 §5.1',
    severity: 'must',
    sentence: 'A token that was edited is refused.',
    fix: SIGNED,
    after: ['user.unknown-token'],
    test: TOKENS.forged
  }
]

function expectUnlike (
  { integration, secrets }: Service, values: string[], known: string[][]
): void {
  for (const value of values) secrets.add(value)
  const weakness = weaknessOf(values, known.map((one) => [integration.clientId, ...one]))
  expect(weakness === null, String(weakness?.how), undefined, weakness?.severity)
}

function expectNoOrigin (value: string, known: string[], from: number): void {
  const origin = originOf(value, known, from)
  expect(origin === null, String(origin))
}

/** Texts of the integration and of the user that a code or token must not be derived from. */
function knownOf ({ integration, record, settings }: Service): string[] {
  const { external_id: id, email, name } = record ?? { external_id: '', email: '', name: '' }
  const cookies = settings.user.cookies.map(({ value }) => value)
  return [
    integration.clientId, integration.clientSecret, integration.redirectUri,
    id, email, name, ...cookies
  ]
    .filter((text) => text !== '')
}
