import { redirectTarget } from '../../flow/browser.ts'
import { oauthError } from '../../flow/failure.ts'
import type { Exchange } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'

/** The refusals that a check caused: an operator recognizes them by time and number. */
export interface Caused {
  /** ISO 8601. */
  from: string
  to: string
  /** Numbers by OAuth error, or by status where the response names no error. */
  refusals: Record<string, number>
  /** How many codes were sent again, once or many times, during or after their redemption. */
  replayedCodes: number
}

/** Counts the refusals among the exchanges of a check. */
export class RefusalCount {
  readonly #from = new Date()
  readonly #refusals: Record<string, number> = {}
  readonly #redeemed = new Set<string>()
  readonly #refusedForms = new Set<string>()

  add (exchange: Exchange): void {
    const { method, body = '' } = exchange.request
    const error = errorOf(exchange)
    if (error !== null) this.#refusals[error] = (this.#refusals[error] ?? 0) + 1
    if (error === 'invalid_grant') this.#refusedForms.add(body)
    if (method === 'POST' && statusOf(exchange) === 200) this.#redeemed.add(body)
  }

  /** The counts so far. In a race the refusal of a replayed code may come before its token. */
  result (): Caused {
    return {
      from: this.#from.toISOString(),
      to: new Date().toISOString(),
      refusals: this.#refusals,
      replayedCodes: [...this.#refusedForms].filter((form) => this.#redeemed.has(form)).length
    }
  }
}

/** The OAuth error of a refusal, in its body or its redirect; its status where it names none. */
function errorOf (exchange: Exchange): string | null {
  const status = statusOf(exchange)
  if (status >= 400) return oauthError(exchange.response) ?? String(status)
  const target = redirectTarget(exchange, exchange.request.url)
  const error = target === null ? null : new URL(target).searchParams.get('error')
  return error !== null && /^[a-z_]+$/.test(error) ? error : null
}

/** The counts in words; empty where nothing was refused. */
export function causedText ({ from, to, refusals, replayedCodes }: Caused): string {
  const counts = Object.entries(refusals).sort(([, one], [, other]) => other - one)
  if (counts.length === 0) return ''
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  const list = counts.map(([error, count]) => `${count} ${error.replace(/^\d/, 'with status $&')}`)
    .join(', ')
  return `From ${from} to ${to} the check caused ${total} refusals: ${list}. ` +
    `It replayed ${replayedCodes} codes.`
}
