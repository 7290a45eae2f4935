// A host on a Redis that is about to fail, seen from outside: by the browser, by the portal, and in the log.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test } from 'tap'
import { type Redis } from 'ioredis'
import { type PartnerSsoEvent, type PartnerSsoOptions } from '../../lib/index.ts'
import { randomSecret } from '../../lib/grants/sealing.ts'
import { recordOf, startHost, type User } from '../helpers/host.ts'
import { type Answer, type Wire, wire } from '../helpers/wire.ts'

export const STORE_TIMEOUT = 600
/** What a request may take besides: the way through the stack, on a busy machine. */
export const MARGIN = 250

/** A code and a token that nobody has issued. */
export const NOTHING = { code: randomSecret(), token: `${randomSecret().slice(0, 20)}${randomSecret()}` }

export interface Scene {
  url: string
  portal: Wire
  events: PartnerSsoEvent[]
  log: LogLine[]
  /** Whether the host says that it is ready. */
  ready (): Promise<boolean>
  close (): Promise<unknown>
}

export interface LogLine { level: number, msg: string, cause?: string, event?: string }

/** A host whose store may take `STORE_TIMEOUT`. */
export async function scene (t: Test, options: Partial<PartnerSsoOptions<User>>): Promise<Scene> {
  const log: LogLine[] = []
  const logger = { level: 'debug', stream: { write: (line: string) => log.push(JSON.parse(line) as LogLine) } }
  const { app, url, events } = await startHost(t, { storeTimeout: STORE_TIMEOUT, ...options }, { server: { logger, forceCloseConnections: true } })
  return { url, portal: wire(url), events, log, ready: async () => await app.partnerSso.ready(), close: async () => { await app.close() } }
}

/** A code and a token that are good. */
export async function goods ({ portal }: Scene): Promise<{ code: string, token: string }> {
  return { code: await untilGiven(() => portal.code()), token: await untilGiven(() => portal.accessToken()) }
}

/** On a busy machine a working store may look unavailable for a moment. */
async function untilGiven (ask: () => Promise<string | null | undefined>): Promise<string> {
  let given: string | null | undefined
  if (!await until(async () => (given = await ask().catch(() => null)) != null, 20_000)) throw new Error('Nothing was issued')
  return given as string
}

/** Sends the three requests of a sign-in at once; each must be told `temporarily_unavailable`, in time. */
export async function unavailable (
  t: Test,
  { portal }: Scene,
  { code, token }: { code: string, token: string },
  what = 'unavailable'
): Promise<void> {
  const times: number[] = []
  // On a busy machine all timers of this process are late, the plugin's and this one.
  const begin = performance.now()
  const lateness = sleep(STORE_TIMEOUT).then(() => performance.now() - begin - STORE_TIMEOUT)
  const timed = async (answer: Promise<Answer>): Promise<Answer> => {
    const start = performance.now()
    return await answer.finally(() => times.push(performance.now() - start))
  }
  const [authorized, issued, answered] =
    await Promise.all([timed(portal.authorize()), timed(portal.token({ code })), timed(portal.user(token))])
  t.equal(authorized.status, 302, `${what}: the browser goes back to the portal`)
  t.equal(authorized.redirect.get('error'), 'temporarily_unavailable')
  t.equal(authorized.redirect.get('state'), 'a state')
  for (const answer of [issued, answered]) {
    t.equal(answer.status, 503, `${what}: the portal is told so`)
    t.equal(answer.json.error, 'temporarily_unavailable')
    t.match(answer.headers.get('retry-after'), /^\d+$/)
  }
  const worst = Math.max(...times)
  t.ok(worst <= STORE_TIMEOUT + MARGIN + 2 * await lateness, `${what}: answered within ${STORE_TIMEOUT} + ${MARGIN} ms`)
  t.comment(`answer time: ${what}: ${worst.toFixed(0)} ms`)
}

/** The code and the token, refused while the store was away, are as good as before. */
export async function stillGood (t: Test, { portal }: Scene, { code, token }: { code: string, token: string }): Promise<void> {
  t.equal((await portal.token({ code })).status, 200, 'the code is still good')
  t.equal((await portal.user(token)).status, 200, 'the token is still good')
}

/** The code and the token can be used no more: what became of them was unknown, and the sign-in starts again. */
export async function usedUp (t: Test, { portal }: Scene, { code, token }: { code: string, token: string }): Promise<void> {
  t.equal((await portal.token({ code })).status, 400, 'the code is used up')
  t.equal((await portal.user(token)).status, 401, 'the token is used up')
}

/** Waits until the host says that it is ready, and signs in. */
export async function recovered (t: Test, host: Scene, milliseconds = 5000): Promise<void> {
  t.ok(await until(async () => await host.ready(), milliseconds), 'ready again')
  await signIn(t, host)
}

export async function signIn (t: Test, { portal }: Scene): Promise<void> {
  // On a busy machine a working store may be too slow once: the user signs in again. Nothing else is forgiven.
  let answer: Answer | undefined
  await until(async () => !isUnavailable(answer = await attempt(portal)), 20_000)
  t.equal(answer?.status, 200)
  t.strictSame(answer?.json, recordOf('alice'), 'a sign-in goes through')
}

/** The answer to the first request of a sign-in that fails, or to the last. */
async function attempt (portal: Wire): Promise<Answer> {
  const authorized = await portal.authorize()
  const code = authorized.redirect.get('code')
  if (code === null) return authorized
  const issued = await portal.token({ code })
  return issued.status === 200 ? await portal.user(issued.json.access_token) : issued
}

const isUnavailable = ({ status, redirect }: Answer): boolean =>
  status === 503 || redirect.get('error') === 'temporarily_unavailable'

/** The log tells each change of state once, with its cause; each request is told at debug level only, and to onEvent. */
export function changesOnce (t: Test, { log, events }: Scene, cause: RegExp, requests: number, changes = 1): void {
  const gone = log.filter(({ msg }) => msg.includes('the store is unavailable'))
  t.equal(gone.length, changes, 'the log says once that the store is unavailable')
  t.match(gone[0], { level: 50, cause })
  const back = log.filter(({ msg }) => msg.includes('the store is available again'))
  t.equal(back.length, changes, 'the log says once that the store is available again')
  t.match(back[0], { level: 50 }, 'at the level at which its loss was logged')
  const told = log.filter(({ event }) => event === 'store_unavailable')
  t.equal(told.length, requests)
  t.ok(told.every(({ level }) => level === 20), 'each request is logged at debug level only')
  t.equal(events.filter(({ type }) => type === 'store_unavailable').length, requests, 'onEvent is told of each request')
}

/** Whether the condition comes true in time. */
export async function until (condition: () => boolean | Promise<boolean>, milliseconds = 5000): Promise<boolean> {
  const end = performance.now() + milliseconds
  while (performance.now() < end) {
    if (await condition()) return true
    await sleep(10)
  }
  return false
}

/** The commands of the plugin that Redis executes, as MONITOR shows them: the name and the key. */
export async function watch (t: Test, client: Redis): Promise<string[][]> {
  const seen: string[][] = []
  const monitor = await client.monitor()
  monitor.on('error', () => {})
  t.teardown(() => monitor.disconnect())
  monitor.on('monitor', (_time: string, args: string[]) => {
    if (/^(?:set|getdel)$/i.test(args[0] as string) && !args[1]?.includes('probe-')) seen.push(args)
  })
  return seen
}
