// The process of a host is killed (kill -9) at every point of a sign-in: before and after each command that it sends to
// Redis, and between the requests. Nothing is issued twice, the user signs in again by another process, and nothing
// stays in Redis beyond its lifetime.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { recordOf } from '../helpers/host.ts'
import { pass, startProxy } from '../helpers/proxy.ts'
import type { Proxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import type { Answer } from '../helpers/wire.ts'
import { startHostProcess } from './fork-host.ts'

/** Seconds: longer than what is to be done with a code takes on the busiest machine. */
const LIFETIME = 600
/** A revocation outlives the token by this. */
const MARGIN = 60

interface Victim { process: ChildProcess, url: string }

async function startVictim (t: Test, port: number): Promise<Victim> {
  const redis = `redis://127.0.0.1:${port}`
  return await startHostProcess(t, { redis, storeTimeout: 30_000, codeLifetime: LIFETIME, tokenLifetime: LIFETIME })
}

/** Where the process dies: at the nth request of the sign-in, when its command passes by, or the reply to it does. */
type Point = { before: number } | { command: string, nth: number, when: 'leaves' | 'ran' }

const points: Point[] = [
  { before: 2 },
  { before: 3 },
  ...[['SET', 1], ['GETDEL', 1], ['SET', 2], ['GETDEL', 2]].flatMap(([command, nth]) => [
    { command, nth, when: 'leaves' } as Point,
    { command, nth, when: 'ran' } as Point
  ])
]

/** Kills the process when the command of that name passes for the nth time, and lets nothing more through. */
function killAt (proxy: Proxy, victim: ChildProcess, point: Point): void {
  proxy.onRequest = proxy.onReply = pass
  if ('before' in point) return
  let count = 0
  const kill = () => {
    victim.kill('SIGKILL')
    return 'swallow' as const
  }
  proxy.onRequest = (bytes) => {
    const name = /\$\d+\r\n(set|getdel)\r\n/i.exec(bytes.toString('latin1'))?.[1]?.toUpperCase()
    if (name !== point.command || ++count !== point.nth) return bytes
    if (point.when === 'leaves') return kill()
    proxy.onReply = kill
    return bytes
  }
}

interface Attempt { code?: string | undefined, token?: string | undefined, returned: number }

/** A sign-in through a process that dies on the way: as far as it got. */
async function attempt ({ url, process }: Victim, point: Point): Promise<Attempt> {
  const portal = wire(url)
  const died = (): undefined => undefined
  const code = (await portal.authorize().catch(died))?.redirect.get('code') ?? undefined
  if ('before' in point && point.before === 2) process.kill('SIGKILL')
  const issued: Answer | undefined = code === undefined ? undefined : await portal.token({ code }).catch(died)
  const token = issued?.json.access_token as string | undefined
  if ('before' in point && point.before === 3) process.kill('SIGKILL')
  const answered = token === undefined ? undefined : await portal.user(token).catch(died)
  return { code, token, returned: answered?.status === 200 ? 1 : 0 }
}

t.test('killed at every point', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const survivor = wire((await startVictim(t, redis.port)).url)
  let next = startVictim(t, proxy.port)
  for (const point of points) {
    const victim = await next
    killAt(proxy, victim.process, point)
    const gone = once(victim.process, 'exit')
    const { code, token, returned } = await attempt(victim, point)
    await gone
    proxy.onRequest = proxy.onReply = pass
    next = startVictim(t, proxy.port)

    const what = JSON.stringify(point)
    // The portal goes on with what it has: every way that the first sign-in may still succeed is tried, twice.
    const tokens = token === undefined ? [] : [token]
    for (let tries = code === undefined || token !== undefined ? 0 : 2; tries > 0; tries--) {
      const again = await survivor.token({ code })
      if (again.status === 200) tokens.push(again.json.access_token)
      else t.equal(again.json.error, 'invalid_grant', what)
    }
    t.ok(tokens.length <= 1, `${what}: at most one token`)
    let records = returned
    for (const token of [...tokens, ...tokens]) {
      const answer = await survivor.user(token)
      if (answer.status === 200) records++
      else t.equal(answer.status, 401, what)
    }
    t.ok(records <= 1, `${what}: the record is returned at most once`)
    const again = await survivor.user(await survivor.accessToken())
    t.strictSame(again.json, recordOf('alice'), `${what}: the user signs in again`)
  }
  await next
  for (const key of await redis.client.keys('*')) {
    const ttl = await redis.client.ttl(key)
    // -1 would be a key without an end; -2 is one that has just gone.
    t.ok(ttl !== -1 && ttl <= LIFETIME + MARGIN, 'every key goes by itself')
  }
})
