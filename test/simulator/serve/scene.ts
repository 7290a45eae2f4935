// The simulator beside a service, and a browser without JavaScript that visits both.
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { Browser } from '../../helpers/browser.ts'
import { freePort } from '../../helpers/ports.ts'
import { PORTAL, sessionOf, startApp } from '../../app.ts'
import type { Change } from '../../app.ts'
import { serve } from '../../helpers/program.ts'
import type { Terminal } from '../../helpers/program.ts'

export interface Simulator {
  /** Origin of the simulator. */
  origin: string
  /** What `serve` has written. */
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
  /** Another service. */
  baseUrl?: string
  /** The host name of the service. Default: another site than the portal's. */
  host?: string
  env?: Record<string, string>
}

/** Gives the browser a session at the service. */
export const logIn = ({ cookies }: Browser, user: string): unknown =>
  cookies.set('sid', sessionOf(user).replace('sid=', ''))

/** Starts `serve` against a service. */
export async function simulator (t: Test, options: SceneOptions = {}): Promise<Simulator> {
  const { change = {}, flags = [], user = 'ada', env = {}, host = 'localhost' } = options
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const portal = { ...PORTAL, redirectUri: `${origin}/oauth/callback` }
  const service = await startApp(t, { ...change, options: { portal, ...change.options } })
  const baseUrl = options.baseUrl ?? service.baseUrl.replace('127.0.0.1', host)
  const { clientId, clientSecret } = PORTAL
  const settings = { PORTAL_BASE_URL: baseUrl, PORTAL_CLIENT_ID: clientId, PORTAL_CLIENT_SECRET: clientSecret }
  const terminal = await serve(t, ['--port', String(port), ...flags], { ...settings, ...env })
  const another = (user?: string): Browser => {
    const browser = new Browser()
    if (user !== undefined) logIn(browser, user)
    return browser
  }
  return { origin, terminal, baseUrl, browser: another(user), another }
}

/** Where a sign-in or a trial starts. */
export function start (origin: string, trial?: string): string {
  return `${origin}/external-oauth/local${trial === undefined ? '' : `?trial=${trial}`}`
}

/** Where a browser is sent from there. */
export async function redirected (browser: Browser, url: string): Promise<string> {
  const { headers } = await browser.fetch(url)
  return String(headers.get('location'))
}

/** The response to a request under another host name. */
export async function asked (url: string, host: string): Promise<IncomingMessage> {
  const [response] = await once(request(url, { headers: { host } }).end(), 'response') as [IncomingMessage]
  return response
}
