// NestJS with its Fastify adapter. The environment variable NEST names another folder to run the host in: with it,
// `node test/versions.js --nest 11` tries the packed package on Nest 11.
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { keepsContract, signsIn } from '../contract/keeps-contract.ts'
import { PORTAL } from '../helpers/host.ts'
import { started } from '../helpers/started.ts'
import { wire } from '../helpers/wire.ts'

const folder = process.env.NEST ?? 'test/hosts'

/** A line that nest-host.mjs prints. */
interface Line {
  url?: string
  fastify?: string
  ready?: boolean
  event?: string
  reason?: string
  warning?: string
  log?: { event?: string }
}

/** Starts nest-host.mjs with its settings: CORS for the whole app, and no logger unless asked for. */
async function startNest (t: Test, settings: object) {
  const argument = JSON.stringify({ portal: PORTAL, ...settings })
  const { child, output, printed } = started(t, [process.execPath, join(folder, 'nest-host.mjs'), argument])
  await printed(/"url":.*\n/)
  const lines = () => output.out.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Line)
  /** Ends the host. Its exit code, and all that it printed. */
  const stop = async () => {
    const closed = once(child, 'close')
    child.kill()
    return { exit: await closed, lines: lines() }
  }
  return { ...lines().find(({ url }) => url !== undefined), stop }
}

const outcomes = ['code_issued', 'token_issued', 'user_information_returned']

t.test('CORS, a guard that lets nobody in, a global prefix, a hook, no logger', async (t) => {
  const { url = '', fastify, ready, stop } = await startNest(t, { guard: true, globalPrefix: 'api', hook: true })
  t.comment(`Fastify ${fastify}`)
  t.equal(ready, true, 'readiness is at the Fastify of the adapter')
  const portal = wire(url)
  await keepsContract(t, portal)

  const own = await portal.send('/api/own')
  t.equal(own.status, 403, 'guards are for controllers')
  t.equal(own.headers.get('access-control-allow-origin'), '*', 'routes of the host keep its headers')
  t.equal((await wire(`${url}/api`).user('x')).status, 404, 'so are global prefixes')
  t.equal((await portal.user('x', { 'x-stop': '1' })).status, 429, 'a hook of the adapter responds, as in any Fastify')

  const { exit, lines } = await stop()
  t.strictSame(exit, [0, null], 'the app closes')
  t.ok(lines.some(({ warning = '' }) => /redis/i.test(warning)), 'the start-up warning is a process warning')
  t.strictSame(lines.flatMap(({ event = [] }) => event).slice(0, 3), outcomes)
})

t.test('pipes, interceptors and filters of Nest, the option `prefix`, and the logger of the adapter', async (t) => {
  const plugin = { prefix: '/api', loginPage: '/api/login' }
  const { url = '', stop } = await startNest(t, { broken: true, globalPrefix: 'api', plugin, logger: true })
  const portal = wire(`${url}/api`)
  await signsIn(t, portal)
  t.equal((await portal.send('/own')).status, 418, 'they are for controllers')
  const { headers } = await portal.authorize({}, null)
  t.match(headers.get('location'), /^\/api\/login\?return_to=%2Fapi%2Foauth%2Fauthorize%3F/)

  const { lines } = await stop()
  t.strictSame(lines.flatMap(({ log }) => log?.event ?? []).slice(0, 3), outcomes, 'each outcome is a line of the log')
  t.notOk(lines.some(({ warning = '' }) => /redis/i.test(warning)), 'the start-up warning is not a process warning')
})
