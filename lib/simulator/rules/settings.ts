import type { Arrival } from '../../flow/browser.ts'
import type { Cookie } from '../../flow/cookies.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Grant } from '../../flow/legs.ts'
import type { Secrets } from '../../flow/masking.ts'
import type { Exchange, Headers } from '../../flow/wire.ts'
import type { Wait } from '../process.ts'

/** What identifies a user to the partner's application. */
export interface Login {
  cookies: Cookie[]
  headers: Headers
}

/** Results of a sign-in that a rule uses instead of asking the service for new ones. */
export interface Material {
  /** A code that nobody has redeemed. */
  grant?: Grant
  /** A code that was redeemed. */
  redeemed?: Grant
  /** Where the browser of a user arrived who may not enter. */
  ineligible?: Arrival
}

export interface Settings {
  /** Nobody by default. */
  user: Login
  /** A user who may not enter, where one was given. */
  ineligible: Login | null
  /** Another client of the service, where one was given. */
  second: Pick<Integration, 'clientId' | 'clientSecret'> | null
  /** Seconds after which a code has expired, where they are known. */
  codeLifetime: number | null
  /** The same for a token. */
  tokenLifetime: number | null
  /** Seconds that the whole check may take. */
  deadline: number
  /** Whether it is known that the login responds with a redirect. */
  loginRedirects: boolean
  material: Material
  /** Where secrets are added; those of the integration by default. */
  secrets: Secrets
  /** Lets time pass until the signal is aborted. Real time by default. */
  wait: Wait
  /** Called with each exchange, secrets not hidden. */
  onExchange: (exchange: Exchange) => void
}
