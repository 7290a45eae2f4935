// The example of a partner's application, the portal simulator as it starts by default, and a browser that visits both.
// They are two sites, as in production: for cookies, localhost and 127.0.0.1 are different sites.
import { execFileSync } from 'node:child_process'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { partnerApp } from '../../examples/partner-app.ts'
import type { PartnerAppSettings } from '../../examples/partner-app.ts'
import { freePort } from '../helpers/ports.ts'
import { serve } from '../helpers/program.ts'

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
  /** Opens another tab. */
  tab: () => Promise<Page>
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
  /** A test in a profile without cookies and storage; with options, in one of its own. */
  visit: (name: string, body: VisitBody, options?: BrowserContextOptions) => Promise<unknown>
}

const CLIENT_ID = 'acme-payments'
const CLIENT_SECRET = 'the portal\'s secret'

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync',
  // A renderer for each site and profile is a third of the time. Cookies and policies do not depend on it.
  '--disable-site-isolation-trials', '--renderer-process-limit=1'
]

let launched: Promise<Browser> | undefined

/** The browser that is installed here, with an empty profile: one for all scenes of this process. */
async function launch (): Promise<Browser> {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim()
  const browser = await chromium.launch({ executablePath, args: FLAGS })
  t.teardown(() => browser.close())
  return browser
}

export async function startScene (t: Test, options: SceneOptions = {}): Promise<Scene> {
  const { ports, flags = [], app = {}, prefix = '', others = [] } = options
  const [port, portalPort] = ports ?? [await freePort(), await freePort()]
  const [partner, portal] = [`http://localhost:${port}`, `http://127.0.0.1:${portalPort}`]
  const calls: string[] = []
  await startPartner(t, port, portal, calls, app)
  const argv = ['--client-id', CLIENT_ID, '--port', String(portalPort), ...flags]
  await serve(t, ['--base-url', partner + prefix, ...argv], { PORTAL_CLIENT_SECRET: CLIENT_SECRET })

  return {
    partner,
    portal,
    calls,
    visit: (name, body, options = {}) => t.test(name, async (t) => {
      calls.length = 0
      const isPlain = Object.keys(options).length === 0
      const profile = (isPlain && idle.pop()) || await newProfile(options)
      const { context, requests, problems } = profile
      profile.origins = [partner, portal, ...others]
      t.teardown(async () => {
        if (!isPlain) return await context.close()
        await clear(profile)
        idle.push(profile)
      })
      const pages = context.pages()
      const tab = async (): Promise<Page> => {
        const page = pages.shift() ?? await context.newPage()
        await page.setViewportSize({ width: 1100, height: 800 })
        return page
      }
      await body(t, { context, tab, requests, problems, page: await tab() })
      t.strictSame(problems, [], 'the browser reports no problem, and no request went to another site')
    })
  }
}

async function startPartner (
  t: Test, port: number, portal: string, calls: string[], settings: Partial<PartnerAppSettings>
): Promise<void> {
  const app = await partnerApp({
    portal: {
      loginUrl: `${portal}/external-oauth/local`,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
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

/** A profile, and what the visit in it is given. */
interface Profile extends Pick<Visit, 'context' | 'requests' | 'problems'> {
  /** Sites that it may visit. */
  origins: string[]
}

/** Profiles that no visit uses. A window costs the browser more than several pages. */
const idle: Profile[] = []

async function newProfile (options: BrowserContextOptions): Promise<Profile> {
  const browser = await (launched ??= launch())
  const context = await browser.newContext(options)
  context.setDefaultTimeout(60_000)
  const profile: Profile = { context, requests: [], problems: [], origins: [] }
  const { requests, problems } = profile
  context.on('request', (request) => {
    requests.push(request.url())
    const { protocol, origin } = new URL(request.url())
    const isAllowed = protocol === 'data:' || profile.origins.includes(origin)
    if (!isAllowed) problems.push(`request: ${request.url()}`)
  })
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`)
  })
  context.on('weberror', (error) => { problems.push(`exception: ${error.error().message}`) })
  return profile
}

async function clear ({ context, requests, problems, origins }: Profile): Promise<void> {
  const pages = context.pages()
  for (const page of pages) {
    await page.goto('about:blank')
    await page.emulateMedia({ colorScheme: null })
  }
  await context.clearCookies()
  const session = await context.newCDPSession(pages[0] as Page)
  for (const origin of origins) {
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  }
  await session.detach()
  requests.length = 0
  problems.length = 0
}
