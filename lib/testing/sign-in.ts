import { type Answer, readArrival, readCallback } from './answers.ts'
import { type Arrival } from './browser.ts'
import { type Failure } from './failure.ts'
import { fetchUser, redeem } from './flow.ts'
import { Secrets } from './masking.ts'
import { authorizeUrl, basicCredentials, type Changes, randomText } from './requests.ts'
import { type Integration } from './settings.ts'
import { type StepReport, Timeline } from './timeline.ts'
import { type Exchange } from './wire.ts'
import { type UserInformation } from '../user-information.ts'

/**
 * One sign-in as the portal performs it, step by step. Each method is one leg of the flow and leaves its trace in the
 * timeline; the caller provides the browser.
 */
export class SignIn {
  readonly state = randomText()
  readonly secrets: Secrets
  readonly timeline = new Timeline()
  readonly portal: Integration
  /** PKCE verifier, where the integration sends a challenge. */
  readonly verifier: string | undefined
  failure: Failure | null = null
  /** Kept for attempts to use a code or token again. */
  code: string | null = null
  accessToken: string | null = null
  record: UserInformation | null = null

  /** @param secrets - where the secrets of the sign-in are added; its own by default */
  constructor (portal: Integration, secrets = new Secrets(), verifier = portal.pkce ? randomText() : undefined) {
    this.portal = portal
    this.secrets = secrets
    this.verifier = verifier
    this.secrets.add(portal.clientSecret)
    this.secrets.add(basicCredentials(portal.clientId, portal.clientSecret).slice('Basic '.length))
    if (this.verifier !== undefined) this.secrets.add(this.verifier)
  }

  /** Steps 1 to 4. Returns the address that the browser has to open. */
  start (changes: Changes = {}): string {
    const url = authorizeUrl(this.portal, this.state, this.verifier, changes)
    this.timeline.done(1, '')
    this.timeline.done(2, `The integration of client_id ${this.portal.clientId} was found.`)
    this.timeline.done(3, 'A session was created, with a state of 256 random bits.')
    this.timeline.done(4, `The browser was sent to ${this.portal.authorizeUrl}.`, visit(url))
    this.timeline.run(5, 'Waiting for the service to send the browser back.')
    return url
  }

  /** Steps 5 to 8, where the caller's browser followed the redirects. */
  arrived (arrival: Arrival): Answer<string> {
    if (arrival.at === 'callback') return this.returned(arrival.callbackUrl, arrival.exchange)
    return this.#finish(readArrival(arrival, this.state, this.portal), arrival.exchange)
  }

  /** Steps 5 to 8, from the address under which the browser came back. */
  returned (callbackUrl: string, exchange?: Exchange): Answer<string> {
    const code = new URL(callbackUrl).searchParams.get('code')
    if (code !== null) this.secrets.add(code)
    const answer = this.#finish(readCallback(callbackUrl, this.state, this.portal), exchange ?? visit(callbackUrl))
    if (!answer.ok) return answer
    this.code = answer.value
    this.timeline.done(5, '')
    this.timeline.done(6, '')
    this.timeline.done(7, 'The browser came back with a code.', exchange ?? visit(callbackUrl))
    this.timeline.done(8, 'The state is the one that was sent.')
    return answer
  }

  /** Steps 9 to 12. */
  async redeem (code: string, changes: Changes = {}): Promise<Answer<string>> {
    this.timeline.run(9, '')
    const call = await redeem(this.portal, this.secrets, { code, verifier: this.verifier }, changes)
    const answer = this.#finish(call.answer, call.exchange)
    if (!answer.ok) return answer
    this.accessToken = answer.value
    this.timeline.done(9, '', call.exchange)
    this.timeline.done(10, '')
    this.timeline.done(11, '')
    this.timeline.done(12, 'An access token came back.', call.exchange)
    return answer
  }

  /** Steps 13 to 15. */
  async fetchUser (accessToken: string): Promise<Answer<UserInformation>> {
    this.timeline.run(13, '')
    const call = await fetchUser(this.portal, this.secrets, accessToken)
    const answer = this.#finish(call.answer, call.exchange)
    if (!answer.ok) return answer
    this.record = answer.value
    this.timeline.done(13, '', call.exchange)
    this.timeline.done(14, '')
    this.timeline.done(15, 'The user information came back and keeps the rules.', call.exchange)
    return answer
  }

  /** The fifteen steps so far, secrets hidden. */
  steps (): StepReport[] {
    return this.timeline.masked(this.secrets)
  }

  /** Ends the sign-in with a failure that the caller found. */
  fail (found: Failure, exchange?: Exchange): Failure {
    const masked = { ...found, expected: this.secrets.mask(found.expected), got: this.secrets.mask(found.got) }
    this.failure = masked
    this.timeline.fail(masked, exchange)
    return masked
  }

  #finish<Value> (answer: Answer<Value>, exchange?: Exchange): Answer<Value> {
    return answer.ok ? answer : this.fail(answer, exchange)
  }
}

/** An address that a real browser opens: its response is not seen here. */
function visit (url: string): Exchange {
  return { request: { method: 'GET', url, headers: [] }, milliseconds: 0 }
}
