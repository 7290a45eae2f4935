import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { AppFailed, TooLarge, trouble } from './trouble.ts'
import { type Exchange, type Headers, type Send, type WireRequest, type WireResponse } from './wire.ts'

const LARGEST = 1024 * 1024

/** What the engine needs of a Fastify app: it is called in-process, with no port. */
export interface Injectable {
  inject (options: { method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS', url: string, headers: Record<string, string>, payload?: string }): Promise<{
    statusCode: number
    headers: Record<string, unknown>
    body: string
  }>
}

/**
 * Speaks HTTP to a running server. Node's own client and not fetch: it sends the named headers and no others,
 * so that the record of a sign-in shows what went over the wire.
 *
 * @param timeout - milliseconds until the whole answer must be there
 */
export const overHttp = (timeout: number): Send => (request) =>
  timed(request, timeout, (signal) => exchangeOverHttp(request, signal))

/**
 * Calls a Fastify app in-process.
 *
 * @param timeout - milliseconds until the app must have answered
 */
export const inProcess = (app: Injectable, timeout: number): Send => (request) =>
  timed(request, timeout, (signal) => Promise.race([injected(app, request), aborted(signal)]))

async function timed (request: WireRequest, timeout: number, exchange: (signal: AbortSignal) => Promise<WireResponse>): Promise<Exchange> {
  const start = performance.now()
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(new DOMException('Too late', 'TimeoutError')), timeout)
  const told = (error: unknown) => trouble(ended.signal.aborted ? ended.signal.reason : error, new URL(request.url).origin, timeout)
  const outcome = await exchange(ended.signal).then((response) => ({ response }), (error: unknown) => ({ trouble: told(error) }))
  clearTimeout(timer)
  return { request, ...outcome, milliseconds: Math.round((performance.now() - start) * 10) / 10 }
}

function exchangeOverHttp ({ method, url, headers, body }: WireRequest, signal: AbortSignal): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const open = url.startsWith('https:') ? httpsRequest : httpRequest
    const length = body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const]
    const options = { method, signal, agent: false as const, headers: Object.fromEntries([...headers, ...length]) }
    open(url, options, (message) => { read(message).then(resolve, reject) }).on('error', reject).end(body)
  })
}

async function read (message: IncomingMessage): Promise<WireResponse> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST) throw new TooLarge()
    chunks.push(chunk)
  }
  const pairs = message.rawHeaders.flatMap((name, at, all) => at % 2 === 0 ? [[name, all[at + 1] as string] as const] : [])
  return { status: message.statusCode as number, headers: pairs, body: Buffer.concat(chunks).toString() }
}

async function injected (app: Injectable, { method, url, headers, body }: WireRequest): Promise<WireResponse> {
  const payload = body === undefined ? {} : { payload: body }
  const response = await app.inject({ method: method as 'GET', url, headers: Object.fromEntries(headers), ...payload }).catch((error: unknown) => { throw new AppFailed(error) })
  return { status: response.statusCode, headers: flat(response.headers), body: response.body }
}

function flat (headers: Record<string, unknown>): Headers {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as const))
}

function aborted (signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => { signal.addEventListener('abort', () => reject(signal.reason)) })
}
