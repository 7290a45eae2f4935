// Several processes that share no store: the first thing said is that the same request got different responses.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { PORTAL } from '../helpers/host.ts'
import { program } from '../helpers/program.ts'

const CLUSTER = fileURLToPath(new URL('./cluster-host.ts', import.meta.url))
const RUNS = Number(process.env.WORKERS_RUNS ?? 2)

t.setTimeout(300_000)

await t.test('four workers, each with a store of its own', async (t) => {
  const cluster = fork(CLUSTER, { execArgv: process.execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => { cluster.kill() })
  const [{ url }] = await once(cluster, 'message') as [{ url: string }]
  const given = ['--base-url', url, '--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri]
  const env = { PORTAL_CLIENT_SECRET: PORTAL.clientSecret }
  for (let run = 0; run < RUNS; run++) {
    const { code, out } = await program(['check', '--header', 'x-user: alice', ...given], { env })
    t.equal(code, 1)
    const [failure = ''] = out.split('\n\n')
    t.match(failure, /^FAIL service\.one-store /)
    t.match(failure.replace(/\s+/g, ' '), 'the same request got different responses, so processes do not share a store')
    t.equal(out.match(/^FAIL/gm)?.length, 1, 'and nothing else is blamed')
    if (process.env.WORKERS_RUNS !== undefined) t.comment(out.split('\n').slice(0, 4).join(' | '))
  }
})
