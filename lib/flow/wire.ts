import type { NetworkError } from './network-error.ts'

/** Header names and values, as they travel; a name may occur more than once. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>

export interface WireRequest {
  method: string
  /** Absolute. */
  url: string
  headers: Headers
  body?: string | undefined
}

export interface WireResponse {
  status: number
  headers: Headers
  /** At most a megabyte, read as UTF-8. */
  body: string
}

/** A request and its outcome: a response, or why there is no response. */
export interface Exchange {
  request: WireRequest
  response?: WireResponse | undefined
  networkError?: NetworkError
  /** Time until the whole response was read. */
  milliseconds: number
}

/**
 * Sends a request to the service. Never rejects, never follows a redirect, and always ends within
 * the timeout. An aborted signal ends it earlier.
 */
export type Send = (request: WireRequest, signal?: AbortSignal) => Promise<Exchange>

/** The status of the response; 0 without a response. */
export const statusOf = ({ response }: Exchange): number =>
  response?.status ?? 0

/** The statuses with which a browser follows `Location` (Fetch standard section 2.2.3). */
export const isRedirect = (status: number): boolean =>
  [301, 302, 303, 307, 308].includes(status)

/** All values of a header, whatever the case of its name. */
export function headerValues (response: WireResponse | undefined, name: string): string[] {
  return (response?.headers ?? [])
    .filter(([key]) => key.toLowerCase() === name)
    .map(([, value]) => value)
}

/** The header's values joined as RFC 9110 section 5.2 joins them, or the empty string. */
export function header (response: WireResponse | undefined, name: string): string {
  return headerValues(response, name).join(', ')
}

/** No response of the endpoints is longer: a megabyte costs no more than its beginning. */
const LONGEST_JSON = 64 * 1024

/** The JSON object in the body; null when the body is not one. */
export function jsonObject (response: WireResponse | undefined): Record<string, unknown> | null {
  const body = String(response?.body)
  if (body.length > LONGEST_JSON || !/^\s*\{/.test(body)) return null
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return null
  }
}
