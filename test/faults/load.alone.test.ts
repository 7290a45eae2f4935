// Two host processes on one Redis, sign-ins all the time, and one fault after the other: no code or token is used
// twice, and no request is left hanging. LOAD_MINUTES=10 makes the run longer, with longer pauses between the faults.
// Alone: it keeps the process busy.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { PORTAL } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { seed } from '../helpers/seed.ts'
import { wire } from '../helpers/wire.ts'
import type { WireResponse, Wire } from '../helpers/wire.ts'
import { startHostProcess } from '../helpers/fork-host.ts'
import { until } from '../helpers/outages.ts'

const MINUTES = Number(process.env.LOAD_MINUTES ?? 0)
const WORKERS = 6
const STORE_TIMEOUT = 500
/** Milliseconds: a request that takes longer is left hanging; no busy machine takes so long. */
const HANGING = 60_000
/** Milliseconds between two faults at most. */
const PAUSE = MINUTES === 0 ? 300 : 2000

let state = seed
/** From 0 up to 1: the numerical recipes' linear congruential generator. */
function random (): number {
  state = (state * 1664525 + 1013904223) % 2 ** 32
  return state / 2 ** 32
}

const options = { storeTimeout: STORE_TIMEOUT, codeLifetime: 5, tokenLifetime: 5 }
let redis = await startRedis(t)
const start = () => startHostProcess(t, { redis: redis.url, ...options })
const hosts = [await start(), await start()]

/** Waits until more sign-ins have been refused. */
async function refusals (): Promise<void> {
  const enough = count.refused + 5 * WORKERS
  await until(() => count.refused >= enough)
}

/** Each breaks something, waits, and repairs it. */
const faults: Record<string, () => unknown> = {
  async 'Redis stopped' () {
    redis.process.kill('SIGSTOP')
    await sleep(random() * 3 * STORE_TIMEOUT)
    redis.process.kill('SIGCONT')
  },
  async 'Redis killed' () {
    redis.process.kill('SIGKILL')
    await once(redis.process, 'exit')
    await refusals()
    redis = await startRedis(t, [], redis.port)
  },
  'connections cut': () => redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal'),
  'Redis slow': () => redis.client.client('PAUSE', Math.round(STORE_TIMEOUT * 2 * random()), 'ALL'),
  async 'read-only' () {
    await redis.client.replicaof('127.0.0.1', 1)
    await refusals()
    await redis.client.replicaof('NO', 'ONE')
  },
  async 'out of memory' () {
    await redis.client.config('SET', 'maxmemory', '1')
    await refusals()
    await redis.client.config('SET', 'maxmemory', '0')
  },
  'keys lost': () => redis.client.flushall(),
  async 'host killed' () {
    hosts[1]?.process.kill('SIGKILL')
    hosts[1] = await start()
  }
}

const count = { 'signed in': 0, refused: 0, 'started again': 0 }
let doubled = 0
let hung = 0

const fetchInTime = (url: string, init: RequestInit) => fetch(url, { ...init, signal: AbortSignal.timeout(HANGING) })

/** A request to one of the hosts. Undefined: the connection broke, since the host died. */
async function send (request: (portal: Wire) => Promise<WireResponse>): Promise<WireResponse | undefined> {
  const { url } = hosts[Math.floor(random() * 2)] as { url: string }
  return await request(wire(url, PORTAL, { fetch: fetchInTime })).catch((error: Error) => {
    if (error.name === 'TimeoutError') hung++
    return undefined
  })
}

type Responses = Array<WireResponse | undefined>

const succeeded = (responses: Responses) => responses.filter((response) => response?.status === 200) as WireResponse[]

/** Redeems something as a portal would: three times at once, or once more after 503 and a broken connection. */
async function redeem (request: (portal: Wire) => Promise<WireResponse>): Promise<Responses> {
  const isRaced = random() < 0.1
  const responses = await Promise.all(Array.from({ length: isRaced ? 3 : 1 }, () => send(request)))
  const [{ status } = { status: 503 }] = responses
  return isRaced || status !== 503 ? responses : [...responses, await send(request)]
}

const failed = (responses: Responses): keyof typeof count =>
  responses.at(-1)?.status === 503 ? 'refused' : 'started again'

/** A sign-in, and what became of it. */
async function signIn (): Promise<keyof typeof count> {
  const authorized = await send((portal) => portal.authorize())
  const code = authorized?.redirect.get('code')
  if (code == null) return authorized === undefined ? 'started again' : 'refused'
  const issued = await redeem((portal) => portal.token({ code }))
  const [{ json: { access_token: token } } = { json: {} }] = succeeded(issued)
  if (token === undefined) return failed(issued)
  const records = await redeem((portal) => portal.user(token))
  const again = await send((portal) => portal.token({ code }))
  if (succeeded([...issued, again]).length > 1 || succeeded(records).length > 1) doubled++
  return succeeded(records).length > 0 ? 'signed in' : failed(records)
}

t.test('no sign-in is doubled, and none is left hanging', async (t) => {
  const end = Date.now() + MINUTES * 60_000
  const run = { isOver: false }
  const workers = Array.from({ length: WORKERS }, async () => {
    while (!run.isOver) {
      const outcome = await signIn()
      count[outcome]++
      if (outcome === 'refused') await sleep(20)
    }
  })
  do {
    for (const inject of Object.values(faults)) {
      await sleep(random() * PAUSE)
      await inject()
    }
  } while (Date.now() < end)
  t.ok(await until(() => count['signed in'] > 100 && count.refused > 0), 'some were finished, some refused')
  run.isOver = true
  await Promise.all(workers)
  t.comment(JSON.stringify(count))
  t.strictSame({ doubled, hung }, { doubled: 0, hung: 0 })
  t.ok(await until(async () => await signIn() === 'signed in'), 'and sign-ins work afterwards')
})
