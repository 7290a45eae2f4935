import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { networkError } from './network-error.ts'
import type { Exchange, Headers, Send, WireRequest, WireResponse } from './wire.ts'

/** Bytes of the largest body that is read. */
const LARGEST_BODY = 1024 * 1024

/** The part of a Fastify app that is used: it is called in-process, with no port. */
export interface Injectable {
  inject (options: {
    method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS'
    url: string
    headers: Record<string, string>
    payload?: string
  }): Promise<{ statusCode: number, headers: Record<string, unknown>, body: string }>
}

/**
 * Sends requests to a running server. Uses node:http, because fetch adds headers of its own: an
 * exchange must show what went over the wire.
 *
 * @param timeout - milliseconds until the whole response must be there
 */
export const overHttp = (timeout: number): Send => (request, signal) =>
  timed(request, timeout, signal, (ended) => exchangeOverHttp(request, ended))

/**
 * Calls a Fastify app in-process.
 *
 * @param timeout - milliseconds until the app must have responded
 */
export const inProcess = (app: Injectable, timeout: number): Send => (request, signal) =>
  timed(request, timeout, signal, (ended) => Promise.race([injected(app, request), aborted(ended)]))

async function timed (
  request: WireRequest,
  timeout: number,
  outer: AbortSignal | undefined,
  exchange: (signal: AbortSignal) => Promise<WireResponse>
): Promise<Exchange> {
  const start = performance.now()
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('Too late', 'TimeoutError')), timeout)
  const signal = outer === undefined ? late.signal : AbortSignal.any([late.signal, outer])
  const { origin } = new URL(request.url)
  const outcome = await exchange(signal).then(
    (response) => ({ response }),
    (error: unknown) =>
      ({ networkError: networkError(signal.aborted ? signal.reason : error, origin, timeout) })
  )
  clearTimeout(timer)
  return { request, ...outcome, milliseconds: Math.round((performance.now() - start) * 10) / 10 }
}

function exchangeOverHttp (
  { method, url, headers, body }: WireRequest, signal: AbortSignal
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const open = url.startsWith('https:') ? httpsRequest : httpRequest
    const options = { method, signal, agent: false as const, headers: Object.fromEntries(headers) }
    open(url, options, (message) => { read(message).then(resolve, reject) }).on('error', reject)
      .end(body)
  })
}

async function read (message: IncomingMessage): Promise<WireResponse> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) throw Object.assign(new Error(), { code: 'TOO_LARGE' })
    chunks.push(chunk)
  }
  return {
    status: message.statusCode as number,
    headers: pairs(message.headersDistinct),
    body: Buffer.concat(chunks).toString()
  }
}

async function injected (
  app: Injectable, { method, url, headers, body }: WireRequest
): Promise<WireResponse> {
  const options = {
    method: method as 'GET',
    url,
    // As browsers send it: without the port of the scheme.
    headers: { host: new URL(url).host, ...Object.fromEntries(headers) },
    ...body !== undefined && { payload: body }
  }
  try {
    const response = await app.inject(options)
    return { status: response.statusCode, headers: pairs(response.headers), body: response.body }
  } catch (error) {
    throw Object.assign(new Error((error as Error).message), { code: 'APP_FAILED' })
  }
}

/** A pair for each value of a header. */
const pairs = (headers: Record<string, unknown>): Headers => Object.entries(headers)
  .flatMap(([name, values]) => [values].flat().map((value) => [name, String(value)] as const))

async function aborted (signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}
