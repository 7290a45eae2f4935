// The simulator beside a service, and a browser without JavaScript that visits both.
import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { run } from '../../lib/simulator/run.ts'
import { freePort } from './ports.ts'
import { CLIENT_ID, CLIENT_SECRET, listening, PORTAL, sessionOf } from './partner.ts'
import type { Change } from './partner.ts'

export interface Page { url: string, status: number, text: string, headers: Headers }

/** What `serve` has written. */
class Terminal {
  out = ''
  err = ''
  readonly #written = new EventEmitter()

  write (stream: 'out' | 'err', text: string): void {
    this[stream] += text
    this.#written.emit('text')
  }

  /** Waits until the condition is met by what is written. */
  async until (met: () => boolean): Promise<void> {
    while (!met()) await once(this.#written, 'text')
  }
}

/** Follows redirects and keeps cookies by name, whatever the host. */
class Browser {
  readonly cookies = new Map<string, string>()
  readonly #terminal: Terminal

  /** @param user - who is logged in at the service */
  constructor (terminal: Terminal, user?: string) {
    this.#terminal = terminal
    if (user !== undefined) this.logIn(user)
  }

  logIn (user: string): void {
    this.cookies.set(...sessionOf(user).split('=') as [string, string])
  }

  /** Opens an address and follows no redirect. */
  async fetch (url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, ...init.headers as Record<string, string> }
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      this.cookies.set(...line.split(';')[0]?.split('=') as [string, string])
    }
    return response
  }

  async open (url: string, init: RequestInit = {}): Promise<Page> {
    const response = await this.fetch(url, init)
    const location = response.headers.get('location')
    if (location !== null) return await this.open(new URL(location, url).href)
    return { url, status: response.status, text: await response.text(), headers: response.headers }
  }

  /** Starts a sign-in or a trial, or continues it, until it has ended: the page of a slow one is in progress first. */
  async signIn (url: string, init: RequestInit = {}): Promise<Page> {
    return await this.ended(await this.open(url, init))
  }

  /** Opens the page of a sign-in again, whenever the terminal shows the end of one, until it has ended. */
  async ended (page: Page): Promise<Page> {
    if (!page.text.includes('data-ended="false"')) return page
    const { out } = this.#terminal
    const later = await this.open(page.url)
    if (later.text.includes('data-ended="false"')) await this.#terminal.until(() => this.#terminal.out !== out)
    return await this.ended(later)
  }
}

export interface Simulator {
  /** Origin of the simulator. */
  origin: string
  terminal: Terminal
  /** The service. */
  baseUrl: string
  /** A browser with a session at the service. */
  browser: Browser
  /** Another browser, with a session at the service where a user is named. */
  another: (user?: string) => Browser
}

export interface SceneOptions {
  /** In what the service differs from a correct one. */
  change?: Change
  flags?: string[]
  /** Who is logged in at the service. Default: ada. */
  user?: string | undefined
  /** Seconds that a code is valid. */
  lifetime?: number
  /** Another service. */
  baseUrl?: string
  /** The host name of the service. Default: another site than the portal's. */
  host?: string
  env?: Record<string, string>
}

/** Starts `serve` against a service. */
export async function simulator (t: Test, options: SceneOptions = {}): Promise<Simulator> {
  const { change = {}, flags = [], user = 'ada', lifetime = 60, env = {}, host = 'localhost' } = options
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const portal = { ...PORTAL, redirectUri: `${origin}/oauth/callback` }
  const service = await listening(t, { ...change, options: { portal, codeLifetime: lifetime, ...change.options } })
  const baseUrl = options.baseUrl ?? service.baseUrl.replace('127.0.0.1', host)
  const stop = new AbortController()
  const terminal = new Terminal()
  const settings = { PORTAL_BASE_URL: baseUrl, PORTAL_CLIENT_ID: CLIENT_ID, PORTAL_CLIENT_SECRET: CLIENT_SECRET }
  await new Promise<void>((resolve) => {
    const running = run(['serve', '--port', String(port), '--timeout', '60', ...flags], {
      env: { ...settings, ...env },
      out: (text) => {
        terminal.write('out', text)
        setImmediate(resolve)
      },
      err: (text) => terminal.write('err', text),
      stop: stop.signal
    })
    t.teardown(async () => {
      stop.abort()
      if (await running !== 0) throw new Error('serve did not exit with 0')
    })
  })
  const another = (user?: string) => new Browser(terminal, user)
  return { origin, terminal, baseUrl, browser: another(user), another }
}

/** Where a sign-in or a trial starts. */
export function start (origin: string, trial?: string): string {
  return `${origin}/external-oauth/local${trial === undefined ? '' : `?trial=${trial}`}`
}

/** The response to a request under another host name. */
export async function asked (url: string, host: string): Promise<IncomingMessage> {
  const [response] = await once(request(url, { headers: { host } }).end(), 'response') as [IncomingMessage]
  return response
}
