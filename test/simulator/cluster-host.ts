// Four worker processes on one port, each with the in-process store of the plugin. Started by workers.test.ts.
import cluster from 'node:cluster'
import Fastify from 'fastify'
import partnerSso from '../../lib/index.ts'
import { hostOptions } from '../helpers/host.ts'

const WORKERS = 4

if (cluster.isPrimary) {
  let listening = 0
  cluster.on('listening', (_worker, { port }) => {
    listening += 1
    if (listening === WORKERS) process.send?.({ url: `http://127.0.0.1:${port}` })
  })
  process.on('disconnect', () => process.exit())
  cluster.on('exit', () => process.exit(1))
  for (let worker = 0; worker < WORKERS; worker++) cluster.fork()
} else {
  const app = Fastify()
  await app.register(partnerSso, hostOptions())
  await app.listen({ port: 0, host: '127.0.0.1' })
}
