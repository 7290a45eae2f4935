/**
 * The process of one server: starts the one that its argument names, then answers its parent's questions.
 * It ends when its parent does.
 */
import { makeHost } from './host.js'

process.on('disconnect', () => process.exit())

const { module, host, ...setting } = JSON.parse(process.argv[2])
const partner = makeHost(host)

const begun = performance.now()
const { start } = await import(`./servers/${module}.js`)
const imported = performance.now()
const port = await start({ ...setting, host: partner })
const started = performance.now()

const answers = {
  cpu: () => process.cpuUsage(),
  /** Turns of the event loop so far, and how often the process has gone to sleep. */
  loop: () => ({
    turns: performance.nodeTiming.uvMetricsInfo.loopCount,
    sleeps: process.resourceUsage().voluntaryContextSwitches
  }),
  memory () {
    globalThis.gc?.()
    return process.memoryUsage()
  }
}

process.on('message', (question) => process.send(answers[question]()))
process.send({ port, importTime: imported - begun, startTime: started - imported })
