import type { Arrival } from '../../flow/browser.ts'
import { codeOf, targetOf } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import type { Grant } from '../../flow/legs.ts'
import type { Changes } from '../../flow/requests.ts'
import type { Leg } from '../../flow/steps.ts'
import { statusOf } from '../../flow/wire.ts'
import { Failed, Untested } from './errors.ts'
import type { Wrong } from './nearest.ts'
import type { Test } from './rule.ts'
import { expect } from './rule.ts'
import type { Service, Variant } from './service.ts'
import { sentToPortal } from './service.ts'

/** A request that must be refused, and in what it differs from the good one. */
export interface Try extends Variant, Pick<Wrong, 'severity'> {
  /** Shown in front of the response. */
  how?: string
}

const TOKEN_OR_RECORD =
  /"access_token"\s*:\s*(?!null|"")\S|"(?:external_id|control_role|product_role)"\s*:/

/**
 * Expects no token and no record anywhere in the response, and the status of a refusal.
 *
 * @param email - the user's address, where the response must not have it either
 */
export function expectRefusal ({ exchange, reading }: Leg<unknown>, email?: string): void {
  const got = describe(exchange)
  const body = String(exchange.response?.body)
  const isLeak = TOKEN_OR_RECORD.test(body) || (email !== undefined && body.includes(email))
  expect(!reading.ok, got)
  expect(!isLeak, `${got}, with a token or a record in it`)
  const status = statusOf(exchange)
  expect(status >= 400 && status < 500, got, 'Respond to an error with 400 or 401.', 'should')
}

/** Tries each of the requests. Reports a certain failure before advice. */
export async function refusesEach<One extends Try> (
  tries: readonly One[], test: (one: One, at: number) => Promise<unknown>
): Promise<void> {
  let advice: Failed | null = null
  for (const [at, one] of tries.entries()) {
    const error: unknown = await test(one, at).then(() => null, (thrown: unknown) => thrown)
    if (error === null) continue
    if (!(error instanceof Failed)) throw error
    const got = one.how === undefined ? error.message : `${one.how}: ${error.message}`
    const failed = new Failed(got, error.fix, error.severity ?? one.severity)
    if (failed.severity !== 'should') throw failed
    advice ??= failed
  }
  if (advice !== null) throw advice
}

/**
 * Sends all requests with one code or token. If it is not good afterwards (a refusal used it up, or
 * it expired), the refusals prove nothing: then each request is sent again with a new one.
 */
const refusesWith = <Value>(
  issue: (service: Service) => Promise<Value>,
  send: (service: Service, value: Value, one?: Try) => Promise<Leg<unknown>>,
  triesOf: (service: Service, value: Value) => readonly Try[]
): Test => async (service) => {
    const tryOne = async (value: Value, one: Try): Promise<void> =>
      expectRefusal(await send(service, value, one), service.record?.email)
    const value = await issue(service)
    const tries = triesOf(service, value)
    await refusesEach(tries, (one) => tryOne(value, one))
    if (tries.length === 1 || (await send(service, value)).reading.ok) return
    await refusesEach(tries, async (_one, at) => {
      const own = await issue(service)
      await tryOne(own, triesOf(service, own)[at] as Try)
    })
  }

/** Token requests with a good code. */
export const refusesCode = (triesOf: (service: Service, grant: Grant) => readonly Try[]): Test =>
  refusesWith(
    (service) => service.code(),
    (service, grant, one) => service.redeem(grant, one),
    triesOf
  )

/** User requests with a good token. */
export const refusesToken = (triesOf: (token: string) => readonly Try[]): Test => refusesWith(
  (service) => service.accessToken(),
  (service, token, one) => service.user(token, one?.edit),
  (_service, token) => triesOf(token)
)

/** Each wrong value in place of the right one of a parameter. */
export const inPlaceOf = (name: string, wrong: readonly Wrong[]) =>
  wrong.map(({ how, value, ...others }) =>
    ({ how: `${name} ${how}`, value, changes: { [name]: value }, ...others }))

/**
 * Requests without a parameter. RFC 6749 §3.1, §3.2: an empty one counts as left out. Some parsers
 * turn brackets into an object, which a database reads as a condition.
 */
export const without = (name: string): Changes[] => [
  { [name]: undefined },
  { [name]: '' },
  ...['[$ne]', '[]'].map((brackets) => ({ [name]: undefined, [name + brackets]: 'x' }))
]

const OTHER = 'another-value'

/** Each parameter twice: two readers may see two values. */
export const repeated = (values: Record<string, string>): Try[] =>
  Object.entries(values).flatMap(([name, value]) =>
    [[value, value], [value, OTHER], [OTHER, value]].map((pair) =>
      ({ how: `${name} twice`, changes: { [name]: pair } })))

/** Expects that the browser gets no code and no token, and that the service does not fail. */
export function expectNoCode (arrival: Arrival, change = ''): void {
  const got = `${change}${describe(arrival.exchange)}`
  const isGiven = /[?&#](?:code|access_token)=/.test(String(targetOf(arrival)))
  expect(codeOf(arrival) === null && !isGiven, got)
  const isBroken = statusOf(arrival.exchange) >= 500 ||
    sentToPortal(arrival).get('error') === 'server_error'
  const fix = 'Refuse the request with an error of its own: the service failed instead.'
  expect(!isBroken, got, fix, 'should')
}

/** Authorization requests with these changes get no code. */
export const givesNoCode = (...requests: Changes[]): Test => async (service) => {
  for (const changes of requests) {
    expectNoCode(await service.authorize(changes), `with ${named(changes)}: `)
  }
}

/** Errors that are redirected to the portal, where client_id and redirect_uri are right. */
const REDIRECTED_ERRORS: readonly Changes[] = [
  { response_type: 'unknown' },
  { response_type: undefined },
  { state: undefined },
  { state: ['one', 'two'] },
  { code_challenge: 'x', code_challenge_method: 'x' },
  { prompt: 'none' }
]

/** Not beside another error either, nor for any user: redirect_uri and client_id come first. */
export const neverRedirects = (...requests: Changes[]): Test => async (service) => {
  const { ineligible } = service.settings
  for (const changes of requests) {
    for (const fault of [{}, ...REDIRECTED_ERRORS]) {
      await expectNoRedirect(service, { ...fault, ...changes })
    }
    await expectNoRedirect(service, changes, service.anonymous)
    if (ineligible !== null) {
      await expectNoRedirect(service, changes, service.browserOf(ineligible))
    }
  }
}

/** Expects no redirect to the portal, nor to the address in the request. */
export async function expectNoRedirect (
  service: Service, changes: Changes, browser = service.browser
): Promise<void> {
  const { redirectUri } = service.integration
  const arrival = await service.authorize(changes, browser)
  const change = `with ${named(changes)}: `
  const got = describe(arrival.exchange)
  const isRedirected = leadsTo(arrival, String(changes.redirect_uri ?? redirectUri), redirectUri)
  expect(!isRedirected, change + got)
  const asksForLogin = !service.hasUser && statusOf(arrival.exchange) < 400
  if (asksForLogin) throw new Untested(`the service asks for a login first: ${got}`)
  expectNoCode(arrival, change)
}

/**
 * Whether the browser is led to this address. False for one that a browser parses to the registered
 * address: the service may have used either of them.
 */
function leadsTo (arrival: Arrival, uri: string, registered: string): boolean {
  if (!URL.canParse(uri)) return false
  const { href } = new URL(uri)
  const isOther = uri === registered || href !== new URL(registered).href
  return isOther && String(targetOf(arrival)).startsWith(href)
}

/** Expects that the error reaches the portal with the state. */
export function expectError (arrival: Arrival, error: string): void {
  const sent = sentToPortal(arrival)
  const got = describe(arrival.exchange)
  expect(sent.get('error') === error, got)
  expect(sent.has('state'), `no state: ${got}`)
}

export function named (changes: Changes): string {
  return Object.entries(changes).map(([name, value]) => {
    if (value === undefined) return `no ${name}`
    return Array.isArray(value) ? `${name} twice` : `${name}=${value}`
  }).join(', ')
}
