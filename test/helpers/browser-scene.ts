// The example of a partner's application, the portal simulator as it starts by default, and a browser that visits both.
// They are two sites, as in production: for cookies, localhost and 127.0.0.1 are different sites.
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { partnerApp } from '../../examples/partner-app.ts'
import type { PartnerAppSettings } from '../../examples/partner-app.ts'
import { run } from '../../lib/simulator/run.ts'
import { freePort } from './ports.ts'
import { browser } from './chromium.ts'

export interface SceneOptions {
  ports?: [number, number]
  /** Flags of the simulator. */
  flags?: string[]
  /** What differs from the example of a partner's application. */
  app?: Partial<PartnerAppSettings>
  /** The path below which the plugin's routes are. */
  prefix?: string
  /** Other origins that the browser may ask. */
  others?: string[]
}

export interface Visit {
  context: BrowserContext
  page: Page
  /** Addresses that the browser asked for. */
  requests: string[]
  /** Console errors and warnings, exceptions, requests to other sites. A visit that leaves one here fails. */
  problems: string[]
}

type VisitBody = (t: Test, visit: Visit) => Promise<unknown>

export interface Scene {
  /** Origins. */
  partner: string
  portal: string
  /** What the portal's server asked of the partner during the visit, with the status of the response. */
  calls: string[]
  /** A test with a fresh profile. */
  visit: (name: string, body: VisitBody, options?: BrowserContextOptions) => Promise<unknown>
}

export async function startScene (t: Test, options: SceneOptions = {}): Promise<Scene> {
  const { ports, flags = [], app = {}, prefix = '', others = [] } = options
  const [port, portalPort] = ports ?? [await freePort(), await freePort()]
  const [partner, portal] = [`http://localhost:${port}`, `http://127.0.0.1:${portalPort}`]
  const calls: string[] = []
  await startPartner(t, port, portal, calls, app)
  await startPortal(t, ['--base-url', partner + prefix, '--port', String(portalPort), ...flags])

  return {
    partner,
    portal,
    calls,
    visit: (name, body, options = {}) => t.test(name, async (t) => {
      calls.length = 0
      const context = await (await browser()).newContext({ viewport: { width: 1100, height: 800 }, ...options })
      t.teardown(() => context.close())
      context.setDefaultTimeout(60_000)
      const { requests, problems } = watch(context, [partner, portal, ...others])
      await body(t, { context, page: await context.newPage(), requests, problems })
      t.strictSame(problems, [], 'the browser reports no problem, and no request went to another site')
    })
  }
}

async function startPartner (
  t: Test, port: number, portal: string, calls: string[], settings: Partial<PartnerAppSettings>
): Promise<void> {
  const app = await partnerApp({
    portal: {
      loginUrl: `${portal}/external-oauth/demo`,
      clientId: 'acme-payments',
      clientSecret: 'the portal\'s secret',
      redirectUri: `${portal}/oauth/callback`
    },
    cookieSecret: 'the secret of the session cookies',
    logger: false,
    ...settings
  })
  app.addHook('onResponse', async ({ method, routeOptions: { url } }, { statusCode }) => {
    if (/\/oauth\/(?:token|user)$/.test(String(url))) calls.push(`${method} ${url} ${statusCode}`)
  })
  t.teardown(() => app.close())
  await app.listen({ port, host: 'localhost' })
}

async function startPortal (t: Test, flags: string[]): Promise<void> {
  const stop = new AbortController()
  const argv = ['serve', '--client-id', 'acme-payments', '--credentials', 'demo', '--timeout', '60', ...flags]
  await new Promise<void>((resolve, reject) => {
    let err = ''
    const running = run(argv, {
      env: { PORTAL_CLIENT_SECRET: 'the portal\'s secret' },
      out: () => { setImmediate(resolve) },
      err: (text) => { err += text },
      stop: stop.signal
    })
    running.then(() => { reject(new Error(err)) }, reject)
    t.teardown(async () => {
      stop.abort()
      await running
    })
  })
}

function watch (context: BrowserContext, origins: string[]): Pick<Visit, 'requests' | 'problems'> {
  const requests: string[] = []
  const problems: string[] = []
  context.on('request', (request) => {
    requests.push(request.url())
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && !origins.includes(origin)) problems.push(`request: ${request.url()}`)
  })
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`)
  })
  context.on('weberror', (error) => { problems.push(`exception: ${error.error().message}`) })
  return { requests, problems }
}
