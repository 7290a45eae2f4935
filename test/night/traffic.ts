// People who sign in, all the time: through the balancer, with a session of the app, as the portal would have them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Portal } from '../../lib/index.ts'
import { wire } from '../helpers/wire.ts'
import type { Changes, Wire, WireResponse } from '../helpers/wire.ts'

/** What a sign-in ends with: `completed`, or the step and what was said there. */
export type Outcome = string

/** How the sign-ins go. A scene changes it for a while. */
export interface Manner {
  /** Where the portal and the browsers reach the app. */
  url: string
  /** Sent with the session cookie, or without it. */
  session: boolean
  /** Waits with the code until this has happened. */
  codeHeld: Promise<unknown> | undefined
  authorize: Changes
  token: Changes
}

const PEOPLE: Record<string, string> = { 'u-1': 'Ada Okafor', 'u-2': 'Bo Lindqvist', 'u-3': 'Carmen Ruiz' }

const PAUSE = 150

export class Traffic {
  readonly counts: Record<Outcome, number> = {}
  manner: Manner
  readonly #portal: Portal & { clientSecret: string }
  readonly #usual: Manner
  readonly #cookies = new Map<string, string>()
  #isOver = false
  #loops: Array<Promise<void>> = []

  constructor (url: string, portal: Portal & { clientSecret: string }) {
    this.#portal = portal
    this.#usual = { url, session: true, codeHeld: undefined, authorize: {}, token: {} }
    this.manner = this.#usual
  }

  /** Starts so many sign-ins at once, one after the other each, with so many milliseconds between them. */
  start (atOnce = 2, pause = PAUSE): void {
    this.#isOver = false
    this.#loops = Array.from({ length: atOnce }, async () => {
      for (let count = 0; !this.#isOver; count++) {
        await this.signIn(count % 2 === 0 ? 'u-1' : 'u-2')
        await sleep(pause)
      }
    })
  }

  async stop (): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  /** Changes the manner, or restores it. */
  change (manner: Partial<Manner> = {}): void {
    this.manner = { ...this.#usual, ...manner }
  }

  /** How many sign-ins have ended so. */
  ended (outcome: (outcome: string) => boolean = () => true): number {
    return Object.entries(this.counts).reduce((sum, [key, count]) => outcome(key) ? sum + count : sum, 0)
  }

  /** A sign-in, counted. */
  async signIn (user = 'u-1', manner = this.manner): Promise<Outcome> {
    const outcome = await this.#attempt(user, manner).catch((error: Error) => `connection: ${error.message}`)
    this.counts[outcome] = (this.counts[outcome] ?? 0) + 1
    return outcome
  }

  async #attempt (user: string, manner: Manner): Promise<Outcome> {
    const portal = this.at(manner)
    const code = await this.code(user, manner)
    if (typeof code !== 'string') return `authorize: ${said(code)}`
    await manner.codeHeld
    const issued = await portal.token({ code, ...manner.token })
    if (issued.status !== 200) return `token: ${said(issued)}`
    const fetched = await portal.user(issued.json.access_token)
    if (fetched.status !== 200) return `user: ${said(fetched)}`
    return fetched.json.external_id === user && fetched.json.name === PEOPLE[user] ? 'completed' : 'WRONG'
  }

  /** The portal's requests. */
  at (manner = this.manner): Wire {
    return wire(manner.url, this.#portal)
  }

  /** A code for the user who is logged in; or what came instead. */
  async code (user: string, manner = this.manner): Promise<string | WireResponse> {
    const cookie: Record<string, string> = manner.session ? { cookie: await this.#session(user) } : {}
    const response = await this.at(manner).authorize(manner.authorize, null, cookie)
    return response.redirect.get('code') ?? response
  }

  async #session (user: string): Promise<string> {
    const known = this.#cookies.get(user)
    if (known !== undefined) return known
    const body = new URLSearchParams({ user })
    const { headers } = await fetch(`${this.#usual.url}/login`, { method: 'POST', body, redirect: 'manual' })
    const [cookie = ''] = headers.getSetCookie()
    this.#cookies.set(user, cookie.split(';')[0] as string)
    return await this.#session(user)
  }
}

/** The error that was given, or the status. */
function said ({ status, redirect, headers, text }: WireResponse): string {
  if (redirect.get('error') !== null) return redirect.get('error') as string
  if (headers.get('location') !== null) return 'login'
  const isJson = headers.get('content-type')?.includes('json') === true
  return isJson ? JSON.parse(text).error ?? String(status) : String(status)
}
