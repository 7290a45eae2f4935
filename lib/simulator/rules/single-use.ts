import { describe } from '../../flow/failure.ts'
import type { Grant } from '../../flow/legs.ts'
import type { Leg } from '../../flow/steps.ts'
import { bearer } from './edits.ts'
import { Untested } from './errors.ts'
import { forgeries } from './forgeries.ts'
import { nearest, NEVER_RIGHT, respelt } from './nearest.ts'
import type { Wrong } from './nearest.ts'
import { oneWinner } from './races.ts'
import { expectRefusal, refusesEach } from './refusals.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

const TRIES = 4

/** Codes and tokens alike: they are issued, used once, and compared as whole texts. */
interface SingleUse<Value> {
  noun: string
  /** Its name in a sentence on a wrong value. */
  subject: string
  issue: (service: Service) => Promise<Value>
  used: (service: Service) => Promise<Value>
  textOf: (value: Value) => string
  /** Uses it, or another text in its place. */
  use: (service: Service, value: Value, text?: string) => Promise<Leg<unknown>>
  /** Whether a request can carry this text. */
  canCarry: (text: string) => boolean
  /** Seconds after which it has expired. @throws Untested where they are not known */
  lifetime: (service: Service) => number
}

/** RFC 6749 §4.1.2: seconds that a code may live at most. */
const LONGEST_LIFETIME = 600
/** Seconds of the deadline that the other rules need. */
const SPARE = 60

const CODE: SingleUse<Grant> = {
  noun: 'code',
  subject: 'code',
  issue: (service) => service.code(),
  used: (service) => service.redeemed(),
  textOf: ({ code }) => code,
  use: (service, grant, text = grant.code) => service.redeem(grant, { changes: { code: text } }),
  canCarry: () => true,
  lifetime: ({ settings: { codeLifetime, deadline } }) => {
    if (codeLifetime !== null) return codeLifetime
    if (deadline > LONGEST_LIFETIME + SPARE) return LONGEST_LIFETIME
    throw new Untested('it needs --code-lifetime')
  }
}

const TOKEN: SingleUse<string> = {
  noun: 'token',
  subject: 'the access token',
  issue: (service) => service.accessToken(),
  used: async (service) => {
    const token = await service.accessToken()
    await service.user(token)
    return token
  },
  textOf: (token) => token,
  use: (service, token, text = token) => service.user(token, bearer(text)),
  // A header has no line breaks, and readers drop the spaces at its ends.
  canCarry: (text) => /^[\x21-\x7e]+$/.test(text),
  lifetime: ({ settings: { tokenLifetime } }) => {
    if (tokenLifetime === null) throw new Untested('it needs --token-lifetime')
    return tokenLifetime
  }
}

const testsOf =
  <Value>({ noun, subject, issue, used, textOf, use, canCarry, lifetime }: SingleUse<Value>) => {
    const refuses = async (service: Service, value: Value, text?: string): Promise<void> =>
      expectRefusal(await use(service, value, text), service.record?.email)
    /** Each of these texts is refused in place of the right one. */
    const refusesTexts = (service: Service, value: Value, name: string, wrong: readonly Wrong[]) =>
      refusesEach(
        wrong.filter(({ value: text }) => canCarry(text))
          .map(({ how, ...others }) => ({ how: `${name} ${how}`, ...others })),
        ({ value: text }) => refuses(service, value, text)
      )

    return {
      replayed: async (service: Service) => refuses(service, await used(service)),

      respelt: async (service: Service) => {
        const value = await used(service)
        await refusesTexts(service, value, `a used ${noun}`, respelt(textOf(value)))
      },

      again: async (service: Service) => {
        const value = await used(service)
        await refusedAgain(`a used ${noun}`, () => use(service, value))
      },

      race: oneWinner(async (service) => {
        const value = await issue(service)
        return async () => (await use(service, value)).reading.ok
      }),

      expired: async (service: Service) => {
        const seconds = lifetime(service)
        const value = await issue(service)
        await service.settings.wait(seconds * 1000 + 1000, service.signal)
        await refuses(service, value)
      },

      /** Every other text is refused, also the nearest one. */
      exact: async (service: Service) => {
        const value = await issue(service)
        const near = hidden(service, nearSecrets(textOf(value)))
        await refusesTexts(service, value, subject, [...near, ...NEVER_RIGHT])
      },

      forged: async (service: Service) => {
        const value = await issue(service)
        const forged = hidden(service, forgeries(textOf(value)))
        await refusesTexts(service, value, `the ${noun}`, forged)
      }
    }
  }

/** The same tests for both. */
export const CODES = testsOf(CODE)
export const TOKENS = testsOf(TOKEN)

/** Expects that a refused request is refused again. Other rules test the first refusal. */
export async function refusedAgain (how: string, send: () => Promise<Leg<unknown>>): Promise<void> {
  for (let time = 1; time <= TRIES; time++) {
    const { reading, exchange } = await send()
    if (reading.ok && time === 1) return
    expect(!reading.ok, `${how}, sent ${time} times: ${describe(exchange)}`)
  }
}

/**
 * Wrong values of a code or token. Where all letters have one case, as in a UUID, the case has no
 * information, and a database may ignore it. Decoders of JWT and JWE ignore white space and an
 * incomplete group at the end, which makes nothing easier to guess: advice only.
 */
function nearSecrets (right: string): Wrong[] {
  const hasOneCase = right === right.toLowerCase() || right === right.toUpperCase()
  return nearest(right)
    .filter(({ value }) => !hasOneCase || value.toLowerCase() !== right.toLowerCase())
    .map((wrong) => recoded(wrong.value) === right || wrong.value.trim() === right
      ? { ...wrong, severity: 'should' }
      : wrong)
}

/** What a decoder of JWT and JWE reads in a text, encoded again. */
const recoded = (text: string): string =>
  text.split('.').map((part) => Buffer.from(part, 'base64url').toString('base64url')).join('.')

/** Hides the wrong values: a service may repeat them, and they contain nearly the whole secret. */
export function hidden (service: Service, near: Wrong[]): Wrong[] {
  for (const { value } of near) service.secrets.add(value)
  return near
}
