import { makeHost } from './host.js'
import { Load } from './load.js'
import { napping } from './nap.js'
import { quantile } from './statistics.js'
import { Server } from './server.js'

/**
 * Runs `work` against a fresh server process and an empty Redis.
 *
 * @param {{
 *   server: object, redis: import('./redis.js').Redis, concurrency: number, size?: object, options?: object
 * }} setting
 * @param {(running: Server, load: Load) => Promise<T>} work
 * @returns {Promise<T>}
 * @template T
 */
export async function withServer ({ redis, ...setting }, work) {
  await redis.reset()
  const { running, load, close } = await openServer({ redis, ...setting })
  try {
    return await work(running, load)
  } catch (error) {
    throw withOutput(error, setting.server, running)
  } finally {
    await close()
  }
}

/** A fresh server process and its load generator, until `close`. */
export async function openServer ({ server, redis, concurrency, size, options }) {
  const running = await Server.start(server, { redisUrl: redis.url, host: size, options })
  try {
    const load = await Load.open({ server, host: makeHost(size), port: running.port, concurrency })
    const close = () => {
      load.close()
      return running.stop()
    }
    return { running, load, close }
  } catch (error) {
    await running.stop()
    throw withOutput(error, server, running)
  }
}

/** The error, with the server's name and what it wrote last. */
export function withOutput (error, server, running) {
  return Object.assign(error, { message: `${server.name}: ${error.message}\n${running.output()}` })
}

/** Warms the server up, then measures it over a fixed number of sign-ins; its speed only where it is asked for. */
export function measureRound ({ flows, warmUp, speed = false, ...setting }) {
  return withServer(setting, async (running, load) => {
    await load.checkSingleUse()
    await load.signIn(warmUp)
    const { importTime, startTime } = running
    const cost = await measureCost({ running, load, redis: setting.redis, flows })
    return { importTime, startTime, ...cost, ...speed && await measureSpeed({ running, load, flows }) }
  })
}

/** What `flows` sign-ins cost a server that is warm. */
export async function measureCost ({ running, load, redis, flows }) {
  await redis.resetCounters()
  const before = await running.cpu()
  await napping(() => load.signIn(flows))
  const cpuPerFlow = (await running.cpu() - before) / flows
  return { cpuPerFlow, commands: perFlow(await redis.commands(), flows) }
}

/** How fast it is when the load generator answers at once. */
async function measureSpeed ({ running, load, flows }) {
  const before = await running.cpu()
  const { seconds, times } = await load.signIn(flows)
  const cpu = await running.cpu() - before
  const busy = cpu / 1e6 / seconds
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
  return { cpuAtOnce: cpu / flows, busy, flowsPerSecond: flows / seconds, p50, p99 }
}

function perFlow (commands, flows) {
  return Object.fromEntries(Object.entries(commands).map(([name, calls]) => [name, calls / flows]))
}

/**
 * Bytes that one live code, one live token, and what is left of a finished sign-in take in the store: of
 * Redis by MEMORY USAGE, of a store in the process by its heap.
 */
export function measureBytes ({ count, ...setting }) {
  return withServer(setting, async (running, load) => {
    const held = async () => setting.server.redis ? setting.redis.bytes() : (await running.memory()).heapUsed
    await load.user(await load.token(await load.authorize(count))) // so that the heap has the room already
    if (setting.server.redis) await setting.redis.reset()
    const empty = await held()
    const codes = await load.authorize(count)
    const code = await held() - empty
    const tokens = await load.token(codes)
    const token = await held() - empty
    await load.user(tokens)
    const left = await held() - empty
    return { code: code / count, token: token / count, left: left / count }
  })
}
