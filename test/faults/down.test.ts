// Redis is not there: at the start, or killed while sign-ins run.
import t from 'tap'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { changesOnce, goods, NOTHING, readyAgain, recovered, scene, unavailable, until } from './scene.ts'

t.test('down at the start: the app starts, answers, and serves when Redis comes', async (t) => {
  const port = await freePort()
  const host = await scene(t, { redis: `redis://127.0.0.1:${port}` })
  t.equal(await host.ready(), false)
  await unavailable(t, host, NOTHING, 'down at the start')
  await unavailable(t, host, NOTHING, 'down at the start')
  await startRedis(t, [], port)
  await recovered(t, host)
  changesOnce(t, host, /Redis is not connected.*ECONNREFUSED/, 6)
})

t.test('killed and back: each change of state once, and nothing of before is sent to the new one', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  for (let round = 1; round <= 2; round++) {
    const before = await goods(host)
    const server = round === 1 ? redis : killed
    server.process.kill('SIGKILL')
    t.ok(await until(() => server.process.signalCode !== null))
    await unavailable(t, host, before, 'killed')
    await unavailable(t, host, before, 'killed')
    killed = await startRedis(t, [], redis.port)
    await readyAgain(t, host)
    const commands = await killed.client.info('commandstats')
    // The script of EVAL calls GETDEL once more.
    const [probes, sets, getdels] = ['eval', 'set', 'getdel'].map((name) => calls(commands, name))
    t.strictSame([sets, getdels], [probes, 2 * Number(probes)], 'probes only')
    await recovered(t, host)
  }
  changesOnce(t, host, /connect|closed|lost/, 12, 2)
})

let killed: Awaited<ReturnType<typeof startRedis>>

function calls (commands: string, name: string): number {
  return Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(commands)?.[1] ?? 0)
}
