// The simulator beside a service, and a browser without JavaScript that visits both.
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { run } from '../../../lib/simulator/run.ts'
import { freePort } from '../../helpers/ports.ts'
import { httpServer } from '../../helpers/raw-server.ts'
import { CLIENT_ID, CLIENT_SECRET, listening } from '../../helpers/spec-server.ts'
import type { Mistake } from '../mistakes.test.ts'

export interface Page { url: string, status: number, text: string, headers: Headers }

/** Follows redirects and keeps cookies by name, whatever the host. */
export class Browser {
  readonly cookies = new Map<string, string>()

  async open (url: string, init: RequestInit = {}): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, ...init.headers as Record<string, string> }
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    this.keep(response.headers)
    const location = response.headers.get('location')
    if (location !== null) return await this.open(new URL(location, url).href)
    return { url, status: response.status, text: await response.text(), headers: response.headers }
  }

  /** Takes the cookies of a response. */
  keep (headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      this.cookies.set(...line.split(';')[0]?.split('=') as [string, string])
    }
  }

  /** Starts a sign-in or a trial, or continues it, until it has ended: the page of a slow one is in progress first. */
  async signIn (url: string, init: RequestInit = {}): Promise<Page> {
    return await this.ended(await this.open(url, init))
  }

  /** Reloads until the sign-in has ended, as the page tells a browser without JavaScript to do. */
  async ended (page: Page): Promise<Page> {
    if (!page.text.includes('data-ended="false"')) return page
    await new Promise((resolve) => setTimeout(resolve, 100))
    return await this.ended(await this.open(page.url))
  }
}

export interface Simulator {
  /** Origin of the simulator. */
  origin: string
  /** What the terminal shows. */
  out: () => string
  err: () => string
  /** The service. */
  baseUrl: string
  /** A browser with a session at the service. */
  browser: Browser
}

export interface SceneOptions {
  mistakes?: Mistake[]
  flags?: string[]
  /** Who is logged in at the service. Default: ada. */
  user?: string | undefined
  /** Seconds that a code is valid. */
  lifetime?: number
  /** Another service. */
  baseUrl?: string
  env?: Record<string, string>
}

/** Starts `serve` against a service that makes the given mistakes. */
export async function simulator (t: Test, options: SceneOptions = {}): Promise<Simulator> {
  const { mistakes = [], flags = [], user = 'ada', lifetime = 60, env = {} } = options
  const port = await freePort()
  // The service listens at 127.0.0.1: the simulator takes the other host name.
  const origin = `http://localhost:${port}`
  const service = await listening(t, { mistakes, redirectUri: `${origin}/oauth/callback`, lifetime })
  const baseUrl = options.baseUrl ?? service.baseUrl
  const stop = new AbortController()
  let out = ''
  let err = ''
  const argv = [
    'serve', '--base-url', baseUrl, '--client-id', CLIENT_ID, '--port', String(port), '--timeout', '60', ...flags
  ]
  await new Promise<void>((resolve) => {
    const running = run(argv, {
      env: { PORTAL_CLIENT_SECRET: CLIENT_SECRET, ...env },
      out: (text) => {
        out += text
        setImmediate(resolve)
      },
      err: (text) => { err += text },
      stop: stop.signal
    })
    t.teardown(async () => {
      stop.abort()
      if (await running !== 0) throw new Error('serve did not exit with 0')
    })
  })
  const browser = new Browser()
  browser.cookies.set('sid', user)
  return { origin, out: () => out, err: () => err, baseUrl, browser }
}

/** Where a sign-in or a trial starts. */
export function start (origin: string, trial?: string): string {
  return `${origin}/external-oauth/local${trial === undefined ? '' : `?trial=${trial}`}`
}

/** A service that sends each browser back with `the-code`, and responds to the portal as given. */
export const sendingBack = (t: Test, respond: (path: string, response: ServerResponse) => unknown): Promise<string> =>
  httpServer(t, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname !== '/oauth/authorize') return respond(pathname, response)
    const query = new URLSearchParams({ code: 'the-code', state: String(searchParams.get('state')) })
    const location = `${searchParams.get('redirect_uri')}?${query.toString()}`
    return response.writeHead(302, { location }).end()
  })

export const json = (response: ServerResponse, body: unknown, status = 200): unknown =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** The response to a request under another host name. */
export async function asked (url: string, host: string): Promise<IncomingMessage> {
  const [response] = await once(request(url, { headers: { host } }).end(), 'response') as [IncomingMessage]
  return response
}
