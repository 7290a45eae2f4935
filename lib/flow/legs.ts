import type { Arrival, Browser } from './browser.ts'
import { codeOf, isCallback } from './browser.ts'
import { escape } from './escape.ts'
import type { Failure } from './failure.ts'
import { Secrets } from './masking.ts'
import type { Changes, IssuedCode } from './requests.ts'
import { authorizeUrl, randomText, tokenRequest, userRequest } from './requests.ts'
import type { Reading } from './responses.ts'
import { readArrival, readToken, readUser } from './responses.ts'
import type { Integration } from './integration.ts'
import type { Progress, StepReport } from './steps.ts'
import { stepsOf } from './steps.ts'
import type { UserInformation } from '../user-information.ts'
import type { User } from './user.ts'
import { logIn, whyNotLoggedIn } from './user.ts'
import type { Exchange } from './wire.ts'

/** An exchange, and what the portal reads in its response. */
export interface Leg<Value> {
  exchange: Exchange
  reading: Reading<Value>
}

/** `POST /oauth/token`: exchanges a code for an access token. */
export async function redeem (
  integration: Integration,
  secrets: Secrets,
  issued: IssuedCode,
  changes?: Changes
): Promise<Leg<string>> {
  secrets.add(issued.code)
  const exchange = await integration.send(tokenRequest(integration, issued, changes))
  const reading = readToken(exchange)
  if (reading.ok) secrets.add(reading.value)
  return { exchange, reading: masked(reading, secrets) }
}

/** `GET /oauth/user`: exchanges an access token for the user information record. */
export async function fetchUser (
  integration: Integration,
  secrets: Secrets,
  accessToken: string
): Promise<Leg<UserInformation>> {
  secrets.add(accessToken)
  const exchange = await integration.send(userRequest(integration, accessToken))
  return { exchange, reading: masked(readUser(exchange, integration), secrets) }
}

function masked<Value> (reading: Reading<Value>, secrets: Secrets): Reading<Value> {
  if (reading.ok) return reading
  return {
    ...reading,
    error: secrets.mask(reading.error),
    got: secrets.mask(reading.got)
  }
}

/** One sign-in as the portal performs it, leg by leg. The caller provides the browser. */
export class SignIn implements Progress {
  readonly integration: Integration
  readonly secrets: Secrets
  readonly state = randomText()
  /** PKCE verifier, where the integration sends a challenge. */
  readonly verifier: string | undefined
  readonly exchanges: Exchange[] = []
  /** The failure that ended the sign-in, or null. */
  failure: Failure | null = null
  running: number | undefined
  /** The record that the portal got, or null. */
  record: UserInformation | null = null

  /**
   * @param secrets - collects the secrets of the sign-in; by default it has those of the
   * integration
   */
  constructor (integration: Integration, secrets = new Secrets(integration)) {
    this.integration = integration
    this.secrets = secrets
    this.verifier = integration.pkce ? randomText() : undefined
    secrets.add(this.verifier ?? '')
  }

  /** Steps 1 to 4. Returns the address that the browser has to open. */
  start (changes?: Changes): string {
    const url = authorizeUrl(this.integration, this.verifier, { state: this.state, ...changes })
    this.exchanges.push(visit(url))
    this.running = 5
    return url
  }

  /** Steps 1 to 8, with a browser, and the login of its user where it ends on a page. */
  async visit (browser: Browser, login?: User['login'], changes?: Changes): Promise<Leg<IssuedCode>> {
    const url = this.start(changes)
    const page = await browser.open(url)
    const steps = await logIn(browser, page, login)
    const isLogin = page.at === 'page' && login !== undefined
    // A function may log the user in without a request of the browser.
    const again = isLogin ? steps.find(({ at }) => at === 'callback') ?? (await browser.open(url)) : page
    return { exchange: again.exchange, reading: this.arrived(again, whyNotLoggedIn(browser, page, login, steps)) }
  }

  /**
   * Steps 5 to 8, where the caller's browser followed the redirects.
   *
   * @param why - what the login showed, where nobody is logged in
   */
  arrived (arrival: Arrival, why: string | null = null): Reading<IssuedCode> {
    const { verifier, secrets } = this
    secrets.add(codeOf(arrival) ?? '')
    const read = readArrival(arrival, this.state, this.integration)
    const isExplained = !read.ok && read.error === 'login_required' && why !== null
    const reading = masked(isExplained ? { ...read, got: escape(`${read.got}. ${why}`) } : read, secrets)
    const code = this.#end({ exchange: arrival.exchange, reading })
    return code.ok ? { ok: true, value: { code: code.value, verifier } } : code
  }

  /** Steps 9 to 15, with the code of step 7. */
  async complete (issued: IssuedCode): Promise<Reading<UserInformation>> {
    const { integration, secrets } = this
    this.running = 9
    const token = this.#end(await redeem(integration, secrets, issued))
    if (!token.ok) return token
    this.running = 13
    const record = this.#end(await fetchUser(integration, secrets, token.value))
    if (record.ok) this.record = record.value
    return record
  }

  /** The fifteen steps so far, secrets hidden. */
  steps (): StepReport[] {
    return stepsOf(this).map((step) =>
      ({ ...step, exchange: step.exchange && this.secrets.maskExchange(step.exchange) }))
  }

  #end<Value> ({ exchange, reading }: Leg<Value>): Reading<Value> {
    this.exchanges.push(exchange)
    this.running = undefined
    if (!reading.ok) this.failure = reading
    return reading
  }
}

/** The arrival of a real browser that came back to this address. */
export function returned (url: string, { redirectUri }: Integration): Arrival {
  const target = new URL(url)
  return {
    at: isCallback(target, redirectUri) ? 'callback' : 'elsewhere',
    target,
    exchange: visit(url),
    url,
    hops: []
  }
}

/** An address that a real browser opens: its response is not seen here. */
function visit (url: string): Exchange {
  return { request: { method: 'GET', url, headers: [] }, milliseconds: 0 }
}
