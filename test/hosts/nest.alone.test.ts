// NestJS with its Fastify adapter. The environment variable NEST names another folder to run the host in: with it,
// `node test/versions.js --nest 11` tries the packed package on Nest 11.
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { PORTAL, RECORDS, sessionOf } from '../app.ts'
import { started } from '../helpers/started.ts'
import { wire } from '../wire.ts'

const program = join(process.env.NEST ?? 'test/hosts', 'nest-host.mjs')

/** A line that nest-host.mjs prints. */
interface Line {
  url?: string
  fastify?: string
  ready?: boolean
  event?: string
  warning?: string
}

t.test('CORS, a global prefix, what Nest does to controllers, a hook, and its default of no logger', async (t) => {
  const settings = JSON.stringify({ portal: PORTAL, session: sessionOf('ada'), record: RECORDS.ada })
  const { child, output, printed } = started(t, [process.execPath, program, settings])
  await printed(/"url":.*\n/)
  const lines = () => output.out.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Line)
  const { url = '', fastify, ready } = lines().find(({ url }) => url !== undefined) ?? {}
  t.comment(`Fastify ${fastify}`)
  t.equal(ready, true, 'readiness is at the Fastify of the adapter')
  const portal = wire(`${url}/sso`)
  await keepsContract(t, portal)

  const { headers } = await portal.authorize({}, null)
  t.match(headers.get('location'), /^\/login\?return_to=%2Fsso%2Foauth%2Fauthorize%3F/)
  const own = await wire(url).send('/api/own')
  t.equal(own.status, 418, 'guards, pipes, interceptors and filters are for controllers')
  t.equal(own.headers.get('access-control-allow-origin'), '*', 'routes of the host keep its headers')
  t.equal((await wire(`${url}/api/sso`).user('x')).status, 404, 'so are global prefixes')
  t.equal((await portal.user('x', { 'x-stop': '1' })).status, 429, 'a hook of the adapter responds, as in any Fastify')

  const closed = once(child, 'close')
  child.kill()
  t.strictSame(await closed, [0, null], 'the app closes')
  t.ok(lines().some(({ warning = '' }) => /redis/i.test(warning)), 'the start-up warning is a process warning')
  t.strictSame(lines().flatMap(({ event = [] }) => event).slice(0, 3),
    ['code_issued', 'token_issued', 'user_information_returned'])
})
