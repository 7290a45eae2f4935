import { type Answer, readArrival, readCallback, readToken, readUser } from './answers.ts'
import { type Arrival } from './browser.ts'
import { type Failure } from './failure.ts'
import { Secrets } from './masking.ts'
import { type UserInformation } from '../user-information.ts'
import { authorizeUrl, basicCredentials, type Changes, randomText, tokenRequest, userRequest } from './requests.ts'
import { type Integration } from './settings.ts'
import { type StepReport, Timeline } from './timeline.ts'
import { type Exchange } from './wire.ts'

/**
 * One sign-in as the portal performs it, step by step (spec §1). Each method is one leg of the flow and leaves its trace
 * in the timeline; whoever calls decides who plays the browser.
 */
export class SignIn {
  readonly state = randomText()
  readonly secrets = new Secrets()
  readonly timeline = new Timeline()
  readonly portal: Integration
  /** PKCE verifier, where the integration sends a challenge. */
  readonly verifier: string | undefined
  failure: Failure | null = null
  /** Kept for those who try what a used code or token can do. */
  code: string | null = null
  accessToken: string | null = null
  record: UserInformation | null = null

  constructor (portal: Integration) {
    this.portal = portal
    this.verifier = portal.pkce ? randomText() : undefined
    this.secrets.add(portal.clientSecret)
    this.secrets.add(basicCredentials(portal.clientId, portal.clientSecret).slice('Basic '.length))
    if (this.verifier !== undefined) this.secrets.add(this.verifier)
  }

  /** Steps 1 to 4. Returns where the browser has to go. */
  start (changes: Changes = {}): string {
    const url = authorizeUrl(this.portal, this.state, this.verifier, changes)
    this.timeline.done(1, '')
    this.timeline.done(2, `The integration of client_id ${this.portal.clientId} was found.`)
    this.timeline.done(3, 'A session was created, with a state of 256 random bits.')
    this.timeline.done(4, `The browser was sent to ${this.portal.authorizeUrl}.`, visit(url))
    this.timeline.run(5, 'Waiting for the service to send the browser back.')
    return url
  }

  /** Steps 5 to 8, where the caller's browser did the walking. */
  arrived (arrival: Arrival): Answer<string> {
    if (arrival.at === 'callback') return this.returned(arrival.callbackUrl, arrival.exchange)
    return this.#settle(readArrival(arrival, this.state, this.portal), arrival.exchange)
  }

  /** Steps 5 to 8, from the address under which the browser came back. */
  returned (callbackUrl: string, exchange?: Exchange): Answer<string> {
    const code = new URL(callbackUrl).searchParams.get('code')
    if (code !== null) this.secrets.add(code)
    const answer = this.#settle(readCallback(callbackUrl, this.state, this.portal), exchange ?? visit(callbackUrl))
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
    const exchange = await this.portal.send(tokenRequest(this.portal, code, this.verifier, changes))
    const read = readToken(exchange)
    if (read.ok) this.secrets.add(read.value)
    const answer = this.#settle(read, exchange)
    if (!answer.ok) return answer
    this.accessToken = answer.value
    this.timeline.done(9, '', exchange)
    this.timeline.done(10, '')
    this.timeline.done(11, '')
    this.timeline.done(12, 'An access token came back.', exchange)
    return answer
  }

  /** Steps 13 to 15. */
  async fetchUser (accessToken: string): Promise<Answer<UserInformation>> {
    this.timeline.run(13, '')
    this.secrets.add(accessToken)
    const exchange = await this.portal.send(userRequest(this.portal, accessToken))
    const answer = this.#settle(readUser(exchange, this.portal), exchange)
    if (!answer.ok) return answer
    this.record = answer.value
    this.timeline.done(13, '', exchange)
    this.timeline.done(14, '')
    this.timeline.done(15, 'The user information came back and keeps the rules.', exchange)
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

  #settle<Value> (answer: Answer<Value>, exchange?: Exchange): Answer<Value> {
    return answer.ok ? answer : this.fail(answer, exchange)
  }
}

/** An address that a browser of flesh and blood opens: what it gets there is not seen here. */
function visit (url: string): Exchange {
  return { request: { method: 'GET', url, headers: [] }, milliseconds: 0 }
}
