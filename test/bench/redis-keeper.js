/** Runs redis-server for its parent and takes it down with it, however the parent ends. */
import { spawn } from 'node:child_process'

const [port, ...settings] = process.argv.slice(2)
const redis = spawn('redis-server', [
  '--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--loglevel', 'warning', ...settings
], { stdio: ['ignore', 'ignore', 'inherit'] })

redis.on('error', (error) => {
  console.error(`redis-server: ${error.message}`)
  process.exit(1)
})
redis.on('exit', () => process.exit(1))
process.on('disconnect', () => {
  redis.removeAllListeners('exit')
  redis.on('exit', () => process.exit())
  redis.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {}) // the parent decides
