// A process that gets SIGTERM is not ready any more, continues to serve, and ends after the requests under way.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { addReadiness } from '../../examples/readiness.ts'
import { startApp } from '../app.ts'

/** `/slow` responds when the test sends a message. */
const HOST = `
import { once } from 'node:events'
import Fastify from 'fastify'
import { addReadiness } from './examples/dist/readiness.js'

const app = Fastify()
addReadiness(app, { notice: Number(process.env.NOTICE) })
app.get('/slow', async () => {
  process.send('asked')
  await once(process, 'message')
  return ''
})
process.send(await app.listen({ port: 0, host: '127.0.0.1' }))`

async function start (t: Test, notice: number): Promise<{ child: ChildProcess, url: string }> {
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '--eval', HOST], {
    env: { NOTICE: String(notice) }, stdio: ['ignore', 'inherit', 'ignore', 'ipc']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [url] = await once(child, 'message')
  return { child, url }
}

const get = async (url: string): Promise<[status: number, connection: string | null]> => {
  const { status, headers } = await fetch(url)
  return [status, headers.get('connection')]
}

t.test('SIGTERM: it is not ready, and serves until the balancer has noticed', async (t) => {
  const { child, url } = await start(t, 2 ** 30)
  t.strictSame(await get(`${url}/ready`), [200, 'keep-alive'])
  child.kill('SIGTERM')
  while ((await get(`${url}/ready`))[0] === 200);
  t.strictSame(await get(`${url}/ready`), [503, 'close'])
  t.strictSame(await get(`${url}/other`), [404, 'close'], 'the connection is not kept for a next request')
})

t.test('SIGINT: then it ends, after the requests that are under way', async (t) => {
  const { child, url } = await start(t, 0)
  const exited = once(child, 'exit')
  const pending = get(`${url}/slow`)
  await once(child, 'message')
  child.kill('SIGINT')
  // The app listens until it closes.
  while (await get(`${url}/ready`).then(() => true, () => false));
  t.equal(child.exitCode, null)
  child.send('go on')
  t.equal((await pending)[0], 200)
  t.strictSame(await exited, [0, null])
})

t.test('the store counts only where the three routes have a backend of their own', async (t) => {
  const down = async (): Promise<never> => { throw new Error('down') }
  const store = { put: down, take: down, revoke: down }
  for (const [options, status] of [[{}, 200], [{ needsStore: true }, 503]] as const) {
    const { url } = await startApp(t, { options: { store }, prepare: (app) => addReadiness(app, options) })
    t.strictSame(await get(`${url}/ready`), [status, 'keep-alive'], JSON.stringify(options))
  }
})
