import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { networkError } from './network-error.ts'
import type { Headers, Send, WireRequest, WireResponse } from './wire.ts'

/** Bytes of the largest body that is read. */
const LARGEST_BODY = 1024 * 1024

/** The part of a Fastify app that is used: it is called in-process, with no port. */
export interface Injectable {
  inject (options: {
    method: 'GET' | 'POST'
    url: string
    headers: Record<string, string>
    payload?: string
  }): Promise<{ statusCode: number, headers: Record<string, unknown>, body: string }>
}

type Respond = (request: WireRequest, signal: AbortSignal) => Promise<WireResponse>

/**
 * Sends requests to a running server. Uses node:http, because fetch adds headers of its own: an
 * exchange must show what went over the wire.
 *
 * @param timeout - milliseconds until the whole response must be there
 */
export const overHttp = (timeout: number): Send => sender(timeout, responseOverHttp)

/**
 * Calls a Fastify app in-process.
 *
 * @param timeout - milliseconds until the app must have responded
 */
export const inProcess = (app: Injectable, timeout: number): Send =>
  sender(timeout, (request, signal) => Promise.race([
    injected(app, request),
    aborted(signal)
  ]))

function sender (timeout: number, respond: Respond): Send {
  return async (request, outer) => {
    const start = performance.now()
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeout)
    const signal = AbortSignal.any([late.signal, outer ?? late.signal])
    const { origin } = new URL(request.url)
    const outcome = await respond(request, signal).then(
      (response) => ({ response }),
      (error: unknown) => ({
        networkError: networkError(signal.aborted ? signal.reason : error, origin, timeout)
      })
    )
    clearTimeout(timer)
    return { request, ...outcome, milliseconds: performance.now() - start }
  }
}

async function responseOverHttp (
  { method, url, headers, body }: WireRequest,
  signal: AbortSignal
): Promise<WireResponse> {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest
  const request = open(url, {
    method,
    signal,
    agent: false,
    headers: Object.fromEntries(headers)
  })
  // An error that comes later ends the reading of the response, too.
  request.on('error', () => {}).end(body)
  const message = await Promise.race([opened(request, signal), switched(request, signal)])
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) throw failed('TOO_LARGE')
    chunks.push(chunk)
  }
  return {
    status: message.statusCode as number,
    headers: pairs(message.headersDistinct),
    body: Buffer.concat(chunks).toString()
  }
}

async function opened (request: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const [message] = await once(request, 'response', { signal })
  return message
}

/** With 101 Switching Protocols comes neither a response nor an error, and then no end of the request. */
async function switched (request: ClientRequest, signal: AbortSignal): Promise<never> {
  const [, socket] = await once(request, 'upgrade', { signal }) as [IncomingMessage, Socket]
  socket.destroy()
  throw failed('SWITCHED')
}

async function injected (
  app: Injectable,
  { method, url, headers, body }: WireRequest
): Promise<WireResponse> {
  // As browsers send it: without the port of the scheme.
  const { host } = new URL(url)
  try {
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: { host, ...Object.fromEntries(headers) },
      ...body !== undefined && { payload: body }
    })
    return {
      status: response.statusCode,
      headers: pairs(response.headers),
      body: response.body
    }
  } catch (error) {
    throw failed('APP_FAILED', (error as Error).message)
  }
}

const failed = (code: string, message?: string): Error =>
  Object.assign(new Error(message), { code })

/** A pair for each value of a header. */
const pairs = (headers: Record<string, unknown>): Headers =>
  Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, String(value)] as const))

async function aborted (signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}
