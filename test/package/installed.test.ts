// The packed tarball in empty hosts of all kinds. Each of them signs in with the portal double of the package.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { emptyDirectory, packed, run } from './packed.ts'

const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
const compilers = { 'typescript-5.9': '5.9.3', 'typescript-6': '6.0.3', 'typescript-7': '7.0.2' }

interface Lock { packages: Record<string, { dependencies?: Record<string, string>, hasInstallScript?: boolean, version: string }> }

async function host (t: { teardown (stop: () => unknown): void }, ...packages: string[]): Promise<string> {
  const directory = await emptyDirectory(t)
  await cp('test/package/hosts', directory, { recursive: true })
  await writeFile(join(directory, 'package.json'), '{ "private": true }')
  await run(directory, 'npm', ...install, (await packed()).tarball, 'fastify@5', ...packages)
  return directory
}

/** The package, and all that comes with it at run time. */
function runTime ({ packages }: Lock, from = 'node_modules/fastify-partner-sso', found = new Set<string>()): Set<string> {
  if (found.has(from)) return found
  found.add(from)
  for (const name of Object.keys(packages[from]?.dependencies ?? {})) {
    const nested = `${from}/node_modules/${name}`
    runTime({ packages }, nested in packages ? nested : `node_modules/${name}`, found)
  }
  return found
}

t.test('JavaScript', async (t) => {
  const directory = await host(t)
  t.equal(await run(directory, 'node', 'host.mjs'), '"alice"\n', 'an ES module')
  t.equal(await run(directory, 'node', 'host.cjs'), '"alice"\n', 'CommonJS')

  const lock: Lock = JSON.parse(await readFile(join(directory, 'node_modules/.package-lock.json'), 'utf8'))
  const installed = runTime(lock)
  t.strictSame([...installed].filter((path) => lock.packages[path] === undefined), [], 'all dependencies are known')
  t.strictSame([...installed].filter((path) => lock.packages[path]?.hasInstallScript), [], 'none runs a script when it is installed')
  const direct = Object.keys(lock.packages['node_modules/fastify-partner-sso']?.dependencies ?? {}).length
  t.comment(`${direct} direct run-time dependencies, ${installed.size - 1} in all`)
  t.ok(installed.size <= 25, 'few packages come with it')
})

t.test('TypeScript, strict, with skipLibCheck: false', async (t) => {
  const aliases = Object.entries(compilers).map(([alias, version]) => `${alias}@npm:typescript@${version}`)
  const directory = await host(t, '@types/node@20', ...aliases)
  for (const alias of Object.keys(compilers)) {
    await t.test(alias, async (t) => {
      t.equal(await run(directory, 'node', `node_modules/${alias}/bin/tsc`, '--outDir', alias), '', 'compiles')
      await Promise.all(['typed.mjs', 'typed.cjs', 'required.cjs'].map(async (file) => {
        t.equal(await run(directory, 'node', join(alias, file)), '"alice"\n', file)
      }))
    })
  }
})
