import type { Arrival } from '../../testing/browser.ts'
import { codeOf, targetOf } from '../../testing/browser.ts'
import { describe } from '../../testing/failure.ts'
import type { Changes } from '../../testing/requests.ts'
import type { Leg } from '../../testing/steps.ts'
import { statusOf } from '../../testing/wire.ts'
import { Failed, Untested } from './errors.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

const TOKEN = /"access_token"\s*:\s*(?!null|"")\S/
const RECORD = /"(?:external_id|control_role|product_role)"\s*:/

/** No token was given, wherever in the response, and the status is one of a refusal. */
export const expectNoToken = (leg: Leg<unknown>): void =>
  expectRefusal(leg, TOKEN, 'Respond to an error with 400 or 401.')

/** The same for the record. */
export function expectNoRecord (service: Service, leg: Leg<unknown>): void {
  const email = service.record?.email
  expect(email === undefined || leg.exchange.response?.body.includes(email) !== true, describe(leg.exchange))
  expectRefusal(leg, RECORD, 'Respond to an error with 401.')
}

function expectRefusal ({ exchange, reading }: Leg<unknown>, given: RegExp, fix: string): void {
  const isGiven = reading.ok || given.test(String(exchange.response?.body))
  expect(!isGiven, `${describe(exchange)}${reading.ok ? '' : ', and what it should keep'}`)
  const status = statusOf(exchange)
  expect(status >= 400 && status < 500, describe(exchange), fix, 'should')
}

/** The browser gets no code, and the service does not break. */
export function expectNoCode (arrival: Arrival, change = ''): void {
  const got = `${change}${describe(arrival.exchange)}`
  expect(codeOf(arrival) === null, got)
  const error = arrival.at === 'callback' ? new URL(arrival.callbackUrl).searchParams.get('error') : null
  const isBroken = statusOf(arrival.exchange) >= 500 || error === 'server_error'
  expect(!isBroken, got, 'Refuse the request with an error of its own: the service failed instead.', 'should')
}

/** A changed authorization request gets no code. */
export async function expectRefused (service: Service, changes: Changes): Promise<void> {
  expectNoCode(await service.authorize(changes), `with ${named(changes)}: `)
}

/** Nothing is redirected to the portal or to the address that the request names. */
export async function expectNoRedirect (
  service: Service, changes: Changes, uri = service.portal.redirectUri
): Promise<void> {
  const arrival = await service.authorize(changes)
  const change = `with ${named(changes)}: `
  const isReached = String(targetOf(arrival)).startsWith(new URL(uri).href)
  expect(!isReached, change + describe(arrival.exchange))
  if (!service.hasUser && statusOf(arrival.exchange) < 400) {
    throw new Untested(`the service asks for a login first: ${describe(arrival.exchange)}`)
  }
  expectNoCode(arrival, change)
}

/** The error reaches the portal with the state. */
export function expectError (arrival: Arrival, error: string): void {
  const got = describe(arrival.exchange)
  if (arrival.at !== 'callback') throw new Failed(got)
  const { searchParams: sent } = new URL(arrival.callbackUrl)
  expect(sent.has('state'), `no state: ${got}`)
  expect(sent.get('error') === error, got)
}

function named (changes: Changes): string {
  return Object.entries(changes).map(([name, value]) => {
    if (value === undefined) return `no ${name}`
    return Array.isArray(value) ? `${name} twice` : `${name}=${value}`
  }).join(', ')
}
