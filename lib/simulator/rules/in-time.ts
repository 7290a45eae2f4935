import { describe, oauthError } from '../../flow/failure.ts'
import type { Grant } from '../../flow/legs.ts'
import type { Leg } from '../../flow/steps.ts'
import type { Exchange } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import { Failed, Untested } from './errors.ts'
import type { Test } from './rule.ts'
import type { Issued, Service } from './service.ts'

/** Milliseconds: a code or token that expires sooner is of no use to a portal. */
const SHORTEST_LIFETIME = 1000
const ROUNDS = 3

type NotJudged = new (reason: string) => Untested

/** The request that used a code or token, and why it failed. */
export interface Use {
  exchange: Exchange
  failure: Failed | null
}

/** A leg that must succeed, with the reasons and the advice of the portal. */
export const mustSucceed = ({ exchange, reading }: Leg<unknown>): Use =>
  ({ exchange, failure: reading.ok ? null : new Failed(reading.got, reading.fix) })

/** A leg that should succeed, with the advice of the rule. */
export const shouldSucceed = ({ exchange, reading }: Leg<unknown>, got = describe(exchange)): Use =>
  ({ exchange, failure: reading.ok ? null : new Failed(got) })

/** A test of what must succeed with a code. */
export const withCode = (
  use: (service: Service, grant: Grant) => Promise<Use>,
  Slow?: NotJudged
): Test => inTime((service) => service.issuedCode(), use, Slow)

/** A test of what must succeed with an access token. */
export const withToken = (
  use: (service: Service, accessToken: string) => Promise<Use>,
  Slow?: NotJudged
): Test => inTime((service) => service.issuedToken(), use, Slow)

/**
 * On a slow machine a code or token may expire before it is used, and a correct service refuses it:
 * then the test is repeated, three times at most.
 *
 * @param Slow - thrown where every refusal may be due to expiry
 */
const inTime = <Value>(
  issue: (service: Service) => Promise<Issued<Value>>,
  use: (service: Service, value: Value) => Promise<Use>,
  Slow: NotJudged = Untested
): Test => async (service) => {
    let last = ''
    for (let round = 1; round <= ROUNDS; round++) {
      const { value, milliseconds } = await issue(service)
      const requestedAt = performance.now() - milliseconds
      const { exchange, failure } = await use(service, value)
      if (failure === null) return
      const isInTime = performance.now() - requestedAt < SHORTEST_LIFETIME
      if (isInTime || !mayBeExpired(exchange)) throw failure
      last = failure.message
    }
    throw new Slow(`the service is so slow that the code may have expired: ${last}`)
  }

/** A refusal of the code or token, or one that does not say what it refuses. */
function mayBeExpired (exchange: Exchange): boolean {
  const status = statusOf(exchange)
  const error = oauthError(exchange.response) ?? 'invalid_grant'
  return status >= 400 && status < 500 && ['invalid_grant', 'invalid_token'].includes(error)
}
