// Two host processes on one Redis, sustained sign-ins, and a fault every few seconds: npm run build, then
//   node test/faults/load.js [--minutes 10] [--workers 12] [--seed 1] [--port 6390]
// It runs until the time is over, every fault has been injected, and some sign-ins were finished and some refused.
// Prints what became of every sign-in. Exit code 1 when a code or token was used twice, or a request was left hanging.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    workers: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    port: { type: 'string', default: '6390' }
  }
})
const STORE_TIMEOUT = 500
/** Milliseconds: a request that takes longer is left hanging; no busy machine takes so long. */
const HANGING = 60_000
const LIFETIME = 5
const portal = {
  loginUrl: 'https://portal.example/external-oauth/3f9c',
  clientId: 'partner-123',
  clientSecret: 'a portal secret',
  redirectUri: 'https://portal.example/oauth/callback'
}
const client = { client_id: portal.clientId, redirect_uri: portal.redirectUri }

const count = {
  tried: 0,
  finished: 0,
  refused: 0,
  startedAgain: 0,
  raced: 0,
  cutOff: 0,
  retriedWell: 0,
  doubled: 0,
  hung: 0,
  requests: 0,
  worstAnswer: 0,
  longestFault: 0
}
const faults = {}

let seed = Number(values.seed)
/** From 0 up to 1: the numerical recipes' linear congruential generator. */
function random () {
  seed = (seed * 1664525 + 1013904223) % 2 ** 32
  return seed / 2 ** 32
}

// --- what is under load

const directory = await mkdtemp(join(tmpdir(), 'partner-sso-load-'))
const port = Number(values.port)
let server = startServer()
const redis = new Redis(port, { retryStrategy: () => 20, maxRetriesPerRequest: null }).on('error', () => {})
await redis.ping()
const hosts = await Promise.all([startHost(), startHost()])

process.on('exit', () => server.kill('SIGKILL'))

function startServer () {
  return spawn('redis-server', ['--port', String(port), '--save', '', '--dir', directory], { stdio: 'ignore' })
}

async function startHost () {
  const lifetimes = { codeLifetime: LIFETIME, tokenLifetime: LIFETIME }
  const options = { portal, redis: `redis://127.0.0.1:${port}`, storeTimeout: STORE_TIMEOUT, ...lifetimes }
  const file = new URL('host-process.js', import.meta.url)
  const process = fork(file, [JSON.stringify(options)], { execArgv: [], env: {} })
  const [{ url }] = await once(process, 'message')
  return { process, url }
}

// --- the faults: each breaks something, waits, and repairs it

const faultsToInject = {
  async 'Redis stopped' () {
    server.kill('SIGSTOP')
    await sleep(200 + random() * 2000)
    server.kill('SIGCONT')
  },
  async 'Redis killed' () {
    server.kill('SIGKILL')
    await once(server, 'exit')
    await sleep(random() * 1000)
    server = startServer()
  },
  async 'connections cut' () {
    await redis.client('KILL', 'TYPE', 'normal')
  },
  async 'Redis slow' () {
    await redis.client('PAUSE', String(Math.round(STORE_TIMEOUT * 2 * random())), 'ALL')
  },
  async 'read-only' () {
    await redis.replicaof('127.0.0.1', 1)
    await sleep(500)
    await redis.replicaof('NO', 'ONE')
  },
  async 'out of memory' () {
    await redis.config('SET', 'maxmemory', '1')
    await sleep(500)
    await redis.config('SET', 'maxmemory', '0')
  },
  async 'keys lost' () {
    await redis.flushall()
  },
  async 'host killed' () {
    // The other one lives through the whole run, so that its memory tells something.
    hosts[1].process.kill('SIGKILL')
    hosts[1] = await startHost()
  }
}

async function injectUntil (isOver) {
  const names = Object.keys(faultsToInject)
  for (let index = 0; !isOver(); index++) {
    await sleep(500 + random() * 1500)
    const name = names[index % names.length]
    const start = performance.now()
    await faultsToInject[name]()
    faults[name] = (faults[name] ?? 0) + 1
    count.longestFault = Math.max(count.longestFault, Math.round(performance.now() - start))
  }
}

// --- the sign-ins

/** One request to one of the hosts. A broken connection means that the host died; a missing answer does not. */
async function send (path, init) {
  const { url } = hosts[random() < 0.5 ? 0 : 1]
  const start = performance.now()
  count.requests++
  try {
    const response = await fetch(url + path, { redirect: 'manual', signal: AbortSignal.timeout(HANGING), ...init })
    const text = await response.text()
    count.worstAnswer = Math.max(count.worstAnswer, performance.now() - start)
    return { status: response.status, location: response.headers.get('location'), text }
  } catch (error) {
    if (error.name === 'TimeoutError') count.hung++
    return { status: 0 }
  }
}

const query = new URLSearchParams({ ...client, response_type: 'code', state: 's' })
const authorize = () => send(`/oauth/authorize?${query}`, { headers: { 'x-user': 'alice' } })
const redeem = (code) => send('/oauth/token', {
  method: 'POST',
  body: new URLSearchParams({ ...client, client_secret: portal.clientSecret, grant_type: 'authorization_code', code })
})
const user = (token) => send('/oauth/user', { headers: { authorization: `Bearer ${token}` } })

const succeeded = (answers) => answers.filter(({ status }) => status === 200)

/** Redeems something as a portal would: tried again after 503 or a broken connection, and now and then raced. */
async function use (redemption, races) {
  const answers = await Promise.all(Array.from({ length: races ? 3 : 1 }, redemption))
  if (!races && [503, 0].includes(answers[0].status)) {
    await sleep(100)
    answers.push(await redemption())
    if (answers[1].status === 200) count.retriedWell++
  }
  if (succeeded(answers).length > 1) count.doubled++
  return answers
}

/** What became of a sign-in; `races` is the share of redemptions that are raced. */
async function signIn (races = 0.1) {
  const authorized = await authorize()
  if (authorized.status === 0) return 'cutOff'
  const code = new URL(authorized.location).searchParams.get('code')
  if (code === null) return 'refused'
  const racesCode = random() < races
  const issued = await use(() => redeem(code), racesCode)
  if (succeeded(issued).length === 0) return became(issued)
  const token = JSON.parse(succeeded(issued)[0].text).access_token
  const answered = await use(() => user(token), random() < races)
  // A code that is used once more is dead, and its token with it.
  if (succeeded(issued.concat([await redeem(code)])).length > 1) count.doubled++
  if (succeeded(answered).length > 0) return 'finished'
  return racesCode ? 'raced' : became(answered)
}

function became (answers) {
  const { status } = answers.at(-1)
  return status === 503 ? 'refused' : status === 0 ? 'cutOff' : 'startedAgain'
}

async function work (isOver) {
  while (!isOver()) {
    count.tried++
    const outcome = await signIn()
    count[outcome]++
    if (outcome === 'refused') await sleep(20)
  }
}

// --- the run

async function memory () {
  const heaps = await Promise.all(hosts.map(async ({ process }) => {
    process.send('memory')
    const [{ heapUsed }] = await once(process, 'message')
    return heapUsed
  }))
  const used = /used_memory:(\d+)/.exec(await redis.info('memory'))[1]
  return { heapMB: heaps.map(inMB), redisMB: inMB(used), keys: await redis.dbsize() }
}

const inMB = (bytes) => Number((bytes / 1e6).toFixed(1))

const minutes = Number(values.minutes)
const workers = Number(values.workers)
const run = (isOver) => Promise.all(Array.from({ length: workers }, () => work(isOver)))

await run(() => count.finished >= 100)
const before = await memory()
Object.keys(count).forEach((name) => { count[name] = 0 })

const end = Date.now() + minutes * 60_000
const hasSeenAll = () => Object.keys(faults).length === Object.keys(faultsToInject).length &&
  count.finished > 0 && count.refused > 0
const isOver = () => Date.now() >= end && hasSeenAll()
await Promise.all([run(isOver), injectUntil(isOver)])

// What is left expires; a revocation takes the longest.
const giveUpAt = Date.now() + (minutes < 1 ? 1000 : (LIFETIME + 70) * 1000)
while (await redis.dbsize() > 0 && Date.now() < giveUpAt) await sleep(200)
const after = await memory()
let works = false
// A busy machine may need longer than storeTimeout now and then.
for (let tries = 0; tries < 100 && !works; tries++) {
  works = await signIn(0) === 'finished'
  if (!works) await sleep(100)
}

for (const { process } of hosts) process.kill('SIGKILL')
server.kill('SIGKILL')
redis.disconnect()
const worstAnswer = Math.round(count.worstAnswer)
console.log(JSON.stringify({ minutes, workers, faults, ...count, worstAnswer, before, after, works }))
await rm(directory, { recursive: true, force: true })
process.exitCode = count.doubled === 0 && count.hung === 0 && works ? 0 : 1
