import type { Arrival } from '../../flow/browser.ts'
import { codeOf, targetOf } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import type { Changes } from '../../flow/requests.ts'
import type { Leg } from '../../flow/steps.ts'
import type { Headers } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import { Failed, Untested } from './errors.ts'
import type { Wrong } from './nearest.ts'
import type { Test } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { sentToPortal } from './service.ts'

const TOKEN_OR_RECORD = /"access_token"\s*:\s*(?!null|"")\S|"(?:external_id|control_role|product_role)"\s*:/

/**
 * No token and no record is given, wherever in the response, and the status is one of a refusal.
 *
 * @param email - of the user, where it must not be given either
 */
export function expectRefusal ({ exchange, reading }: Leg<unknown>, email?: string): void {
  const got = describe(exchange)
  const body = String(exchange.response?.body)
  const isLeak = TOKEN_OR_RECORD.test(body) || (email !== undefined && body.includes(email))
  expect(!reading.ok, got)
  expect(!isLeak, `${got}, and what it should keep`)
  const status = statusOf(exchange)
  expect(status >= 400 && status < 500, got, 'Respond to an error with 400 or 401.', 'should')
}

/** Tries each of the wrong values. What is certain comes before advice. */
export async function refusesEach (
  parameter: string, wrong: readonly Wrong[], test: (value: string) => Promise<unknown>
): Promise<void> {
  let advice: Failed | null = null
  for (const { how, value, severity } of wrong) {
    const error: unknown = await test(value).then(() => null, (thrown: unknown) => thrown)
    if (error === null) continue
    if (!(error instanceof Failed)) throw error
    const failed = new Failed(`${parameter} ${how}: ${error.message}`, error.fix, error.severity ?? severity)
    if (failed.severity !== 'should') throw failed
    advice ??= failed
  }
  if (advice !== null) throw advice
}

/** The browser gets no code and no token, and the service does not break. */
export function expectNoCode (arrival: Arrival, change = ''): void {
  const got = `${change}${describe(arrival.exchange)}`
  expect(codeOf(arrival) === null && !/[?&#](?:code|access_token)=/.test(String(targetOf(arrival))), got)
  const isBroken = statusOf(arrival.exchange) >= 500 || sentToPortal(arrival).get('error') === 'server_error'
  expect(!isBroken, got, 'Refuse the request with an error of its own: the service failed instead.', 'should')
}

/** Authorization requests that are changed so get no code. */
export const givesNoCode = (...requests: Changes[]): Test => async (service) => {
  for (const changes of requests) expectNoCode(await service.authorize(changes), `with ${named(changes)}: `)
}

/** Nothing is redirected to the portal or to the address that the request names. */
export async function expectNoRedirect (
  service: Service, changes: Changes, uri = service.integration.redirectUri
): Promise<void> {
  const arrival = await service.authorize(changes)
  const change = `with ${named(changes)}: `
  const got = describe(arrival.exchange)
  expect(!leadsTo(arrival, uri, service.integration.redirectUri), change + got)
  const asksForLogin = !service.hasUser && statusOf(arrival.exchange) < 400
  if (asksForLogin) throw new Untested(`the service asks for a login first: ${got}`)
  expectNoCode(arrival, change)
}

/** Whether it leads to the given address; to one that a browser takes for the registered one only where that is it. */
function leadsTo (arrival: Arrival, uri: string, registered: string): boolean {
  if (!URL.canParse(uri)) return false
  const { href } = new URL(uri)
  const isOther = uri === registered || href !== new URL(registered).href
  return isOther && String(targetOf(arrival)).startsWith(href)
}

/** The error reaches the portal with the state. */
export function expectError (arrival: Arrival, error: string): void {
  const sent = sentToPortal(arrival)
  const got = describe(arrival.exchange)
  expect(sent.get('error') === error, got)
  expect(sent.has('state'), `no state: ${got}`)
}

function named (changes: Changes): string {
  return Object.entries(changes).map(([name, value]) => {
    if (value === undefined) return `no ${name}`
    return Array.isArray(value) ? `${name} twice` : `${name}=${value}`
  }).join(', ')
}

/** Node says the length of a body for POST and PUT only. */
export const withBody = (headers: Headers, body: string) =>
  ({ headers: [...headers, ['Content-Length', String(Buffer.byteLength(body))] as const], body })
