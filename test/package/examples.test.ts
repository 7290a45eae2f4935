// The examples out of the packed tarball: in an empty folder, by the words of their page, on the Node of this run.
// Needs: redis-server, postgres
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { openidProvider } from '../helpers/identity-provider.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { started } from '../helpers/started.ts'
import { mustRun, packed } from './commands.js'
import { commands } from './documents.ts'

const cwd = mkdtempSync(join(tmpdir(), 'partner-sso-examples-'))
t.teardown(() => rmSync(cwd, { recursive: true }))
const { tarball } = packed()
const lines = commands(/npx tsc -p examples/)
const install = lines.map((line) => line.replace(/^(npm install .*)fastify-partner-sso /, `$1${tarball} `))
t.ok(install.some((line) => line.includes(tarball)), 'the page installs the package')
const env = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
mustRun('bash', ['-ec', install.join('\n')], { cwd, env })

const sources = readdirSync(join(cwd, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('dist'))
  .map((file) => readFileSync(join(cwd, 'examples', file), 'utf8'))

/** What follows `node` in the commands of the examples. */
const programs = sources.flatMap((source) => [...source.matchAll(/^\/\/.* node (examples\/dist\/\S+)(.*)$/gm)])
  .flatMap(([, program = '', names = '']) => names.split('|').map((name) => `${program} ${name.trim()}`.trim()))

interface Servers { redis: string, postgres: string }

/** Starts the example. The environment has what its first lines ask for. */
async function start (t: Test, program: string, { redis, postgres }: Servers): Promise<string> {
  const [PORT, PORTAL_PORT] = [String(await freePort()), String(await freePort())]
  const url = `http://localhost:${PORT}`
  const secret = 'a secret of the provider'
  const settings = {
    PORT,
    PORTAL_PORT,
    METRICS_PORT: String(await freePort()),
    REDIS_URL: redis,
    DATABASE_URL: postgres,
    OIDC_ISSUER: await openidProvider(t, `${url}/login/callback`, secret),
    OIDC_CLIENT_ID: 'acme',
    OIDC_CLIENT_SECRET: secret,
    WORKERS: '1',
    NOTICE: '0'
  }
  await started(t, [process.execPath, ...program.split(' ')], settings, cwd).printed(/^The portal: /m)
  return url
}

/** The portal of several workers is there before them. */
async function opened (url: string): Promise<Response> {
  return await fetch(url).catch(async () => {
    await setTimeout(50)
    return await opened(url)
  })
}

t.test('each example starts, and serves its home page', async (t) => {
  const [redis, postgres] = [await startRedis(t), await startPostgres(t)]
  const unique = [...new Set(programs)].sort()
  t.ok(unique.length >= 12, unique.join(', '))
  for (const program of unique) {
    await t.test(program, async (t) => {
      const page = await opened(await start(t, program, { redis: redis.url, postgres: postgres.url }))
      t.equal(page.status, 200)
      t.match(await page.text(), '<!doctype html>')
    })
  }
})
