// A host on a Redis that is about to fail, seen from outside: by the browser, by the portal, and in the log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { refuses } from '../contract/replies.ts'
import { RECORDS, startApp } from '../app.ts'
import type { Options } from '../app.ts'
import { runningClock, turns } from '../clock.ts'
import { neverIssued } from '../helpers/never-issued.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { STORE_TIMEOUT } from '../helpers/redis-clients.ts'
import { until } from '../helpers/until.ts'
import { wire } from '../wire.ts'

export const NEVER_ISSUED = neverIssued()

export interface Issued { code: string, token: string }

export type Scene = Awaited<ReturnType<typeof scene>>

/** A request, seen from inside the host. */
interface HostRequest {
  /** Whether its command has left for the store. */
  hasLeft: boolean
  readonly hasResponse: boolean
}

export interface LogLine {
  level: number
  event?: string
  reason?: string
  cause?: string
  duration?: number
  refused?: number
}

/**
 * A host with a clock of its own. Its store may take `STORE_TIMEOUT`, which passes by `advance`: no other host notices.
 * Codes and tokens outlive the test.
 */
export async function scene (t: Test, options: Options) {
  const clock = runningClock(t)
  const log: LogLine[] = []
  /** The requests so far, in order. */
  const requests: HostRequest[] = []
  const logger = { level: 'debug', stream: { write: (line: string) => log.push(JSON.parse(line) as LogLine) } }
  const { app, url, events } = await clock.run(() => startApp(t, {
    options: { storeTimeout: STORE_TIMEOUT, codeLifetime: 600, tokenLifetime: 3600, ...options },
    server: { logger, forceCloseConnections: true },
    prepare: (app) => noteRequests(app, requests)
  }))
  return {
    portal: wire(url),
    events,
    log,
    requests,
    ready: () => clock.run(() => app.partnerSso.ready()),
    close: () => app.close(),
    /** Sets the clock of the host forward. */
    advance: (milliseconds: number) => clock.advance(milliseconds)
  }
}

function noteRequests (app: FastifyInstance, requests: HostRequest[]): void {
  app.addHook('preHandler', (_request, { raw }, done) => {
    const request = { hasLeft: false, get hasResponse () { return raw.writableEnded } }
    requests.push(request)
    done()
    turns().then(() => { request.hasLeft = true }, () => {})
  })
}

/** A code and a token that are good. */
export async function issue ({ portal }: Scene): Promise<Issued> {
  return { code: await portal.code(), token: await portal.accessToken() }
}

/** The three requests of a sign-in, at once: each must get `temporarily_unavailable`. No time limit passes. */
export async function unavailable (
  t: Test, { portal }: Scene, { code, token }: Issued, what = 'unavailable'
): Promise<void> {
  const requests = [portal.authorize(), portal.token({ code }), portal.user(token)] as const
  const [{ redirect }, ...others] = await Promise.all(requests)
  t.strictSame([redirect.get('error'), redirect.get('state')], ['temporarily_unavailable', 'a state'], what)
  for (const response of others) refuses(t, response, 503, 'temporarily_unavailable', what)
}

/** The same, where `happen` is called once the commands have left: at the latest when storeTimeout has passed. */
export async function refusedWhen (
  t: Test, host: Scene, issued: Issued, happen: (own: HostRequest[]) => unknown = () => {}, what = 'refused'
): Promise<void> {
  const before = host.requests.length
  const refused = unavailable(t, host, issued, what)
  await until(() => host.requests.slice(before).filter(({ hasLeft }) => hasLeft).length === 3)
  const own = host.requests.slice(before)
  await happen(own)
  await host.advance(STORE_TIMEOUT)
  t.ok(own.every(({ hasResponse }) => hasResponse), `${what}: a response when storeTimeout has passed`)
  await refused
}

/** The same where the store does not respond: each gets a response when storeTimeout has passed, and not before. */
export async function timedOut (t: Test, host: Scene, issued: Issued, what = 'timed out'): Promise<void> {
  const waits = (own: HostRequest[]) =>
    t.notOk(own.some(({ hasResponse }) => hasResponse), `${what}: the store is waited for`)
  await refusedWhen(t, host, issued, waits, what)
}

/** The code and the token, refused while the store was away, are as good as before. */
export async function stillGood (t: Test, host: Scene, issued: Issued): Promise<void> {
  t.strictSame(await redeem(host, issued), [200, 200], 'the code and the token are still good')
}

/** The code and the token are used up. Their requests got 503, as the outcome was unknown: the sign-in starts again. */
export async function usedUp (t: Test, host: Scene, issued: Issued): Promise<void> {
  t.strictSame(await redeem(host, issued), [400, 401], 'the code and the token are used up')
}

async function redeem ({ portal }: Scene, { code, token }: Issued): Promise<number[]> {
  return [(await portal.token({ code })).status, (await portal.user(token)).status]
}

/** Waits until the host says that it is ready. */
export async function readyAgain (t: Test, host: Scene): Promise<void> {
  t.ok(await until(() => host.ready()), 'ready again')
}

/** Waits until the host says that it is ready, and signs in. */
export async function recovered (t: Test, host: Scene): Promise<void> {
  await readyAgain(t, host)
  await signIn(t, host)
}

/** The same where the host has to find another server first: its time limits pass at once. */
export async function findsServer (t: Test, host: Scene): Promise<void> {
  // Each attempt to connect gets twice the time of the one before.
  let pause = 500
  let isReady = false
  const isOver = until(async () => (isReady = await host.ready()))
  while (await Promise.race([isOver.then(() => false), sleep(pause, true)])) {
    await host.advance(STORE_TIMEOUT)
    pause *= 2
  }
  t.ok(isReady, 'ready again')
}

/** A sign-in that must succeed. */
export async function signIn (t: Test, { portal }: Scene): Promise<void> {
  const { status, json } = await portal.user(await portal.accessToken())
  t.strictSame({ status, json }, { status: 200, json: RECORDS.ada }, 'a sign-in succeeds')
}

/** The log has each outage, and how many requests were refused; each request is an event, logged at debug level. */
export async function areLogged (
  t: Test, host: Scene, cause: RegExp, requests: number, count = 1
): Promise<void> {
  const { log, events } = host
  t.equal(await outages(t, host), count, 'each outage once')
  t.match(unavailableLines(host).at(-1), { cause })
  t.equal(log.reduce((sum, { refused = 0 }) => sum + refused, 0), requests, 'and how many were refused')
  t.equal(log.filter(({ level, event }) => level === 20 && event === 'store_unavailable').length, requests)
  t.equal(events.filter(({ type }) => type === 'store_unavailable').length, requests, 'each request has its event')
}

/** Counts the outages in the log: each begins with one line, and ends with another when nothing fails for a while. */
export async function outages (t: Test, host: Scene): Promise<number> {
  await host.advance(STORE_TIMEOUT + 5000)
  const found = host.log.filter(({ event }) => event === 'store_available')
  t.ok(found.every(({ level, reason, duration }) => level === 40 && reason === 'ok' && Number(duration) >= 0))
  const lines = host.log.filter((line) => found.includes(line) || unavailableLines(host).includes(line))
  t.match(lines.map(({ event }) => event).join(), /^(?:store_unavailable,store_available(?:,|$))*$/)
  return found.length
}

/** The lines that say that the store has become unavailable. */
export function unavailableLines ({ log }: Scene): LogLine[] {
  return log.filter(({ level, event, reason }) => level === 50 && event === 'store_unavailable' && event === reason)
}

/** Waits until a replica has all that the server has executed. */
export async function replicated ({ client }: RedisServer): Promise<void> {
  // WAIT is for what was executed before the client's last command.
  await client.ping()
  await client.wait(1, 0)
}

/** The names of the plugin's commands that the server has executed since `SLOWLOG RESET`, sorted; no probes. */
export async function executed ({ client }: Pick<RedisServer, 'client'>): Promise<string[]> {
  const entries = await client.slowlog('GET', 128) as Array<[id: number, at: number, took: number, args: string[]]>
  return entries
    .filter(([, , , [name = '', key = '']]) => /^(?:set|getdel)$/i.test(name) && !key.includes('probe-'))
    .map(([, , , [name = '']]) => name.toLowerCase()).sort()
}
