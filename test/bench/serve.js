/** The process of a server: starts the one that its argument names, then replies to its parent. */
import { Session } from 'node:inspector/promises'

process.on('disconnect', () => process.exit())

const { module, ...setting } = JSON.parse(process.argv[2])
const { start } = await import(`./servers/${module}.js`)
const app = await start(setting)
await app.listen({ host: '127.0.0.1', port: 0 })

const session = new Session()

const replies = {
  /** Microseconds of processor time so far, of all threads. */
  cpuUsage: () => process.cpuUsage(),

  async startProfile () {
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    return null
  },

  /** The profile since then, as `--cpu-prof` writes it. */
  stopProfile: async () => (await session.post('Profiler.stop')).profile
}

process.on('message', async (name) => process.send(await replies[name]()))
process.send(app.server.address().port)
