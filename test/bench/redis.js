import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Starts a Redis on a free port, with nothing on disk. The shell ends it when its own input ends, as with this process.
 *
 * @returns its URL
 */
export async function startRedis () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  const script = `redis-server --port ${port} --save '' --loglevel warning & cat; kill $!`
  spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'inherit'] })
  return `redis://127.0.0.1:${port}`
}
