// What the documents show is compiled, strictly, against the package as it ships; the quick start is run.
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { type Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import { portal } from '../../lib/testing/index.ts'
import { packed, run } from './packed.ts'

const documents = ['README.md', '.github/SECURITY.md'].filter((document) => document === 'README.md' || existsSync(document))

interface Block { document: string, quickStart: boolean, language: string, code: string }

const fence = /^(<!-- quick start -->\n+)?```(\w+)\n(.*?)^```$/gms
const blocks = documents.flatMap((document): Block[] => [...readFileSync(document, 'utf8').matchAll(fence)].map(
  ([, mark, language = '', code = '']) => ({ document, quickStart: mark !== undefined, language, code })
))
const programs = blocks.filter(({ language }) => /^(?:ts|js|typescript|javascript)$/.test(language))
const quickStarts = programs.filter(({ quickStart }) => quickStart)

const tsconfig = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    rootDir: '.',
    outDir: 'built',
    allowJs: true,
    checkJs: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    skipLibCheck: true
  }
}

/** Every program of the documents in a directory that imports the package by its name. */
async function written (t: { teardown (stop: () => unknown): void }): Promise<string> {
  const directory = await mkdtemp(join((await packed()).directory, 'documents-'))
  t.teardown(async () => await rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const [index, { language, code }] of programs.entries()) await writeFile(join(directory, nameOf(index, language)), code)
  return directory
}

function nameOf (index: number, language: string): string {
  return `block-${index + 1}.${language.startsWith('j') ? 'mjs' : 'mts'}`
}

t.test('the documents', async (t) => {
  const fences = documents.flatMap((document) => readFileSync(document, 'utf8').match(/^ *(?:```|~~~)/gm) ?? [])
  t.equal(fences.length, blocks.length * 2, 'each code block names its language, and none is overlooked')
  t.equal(quickStarts.length, 1, 'there is one quick start')
  t.equal(quickStarts[0]?.document, 'README.md')

  const directory = await written(t)
  t.equal(await run(directory, 'node', join(process.cwd(), 'node_modules/typescript/bin/tsc'), '-p', '.'), '', `${programs.length} programs compile`)
  await runsQuickStart(t, join(directory, 'built', nameOf(programs.indexOf(quickStarts[0] as Block), 'ts').replace('mts', 'mjs')))
})

/** Starts it, as a reader would, and signs in. */
async function runsQuickStart (t: Test, file: string): Promise<void> {
  const settings = { PORTAL_CLIENT_SECRET: 'the secret of the portal', COOKIE_SECRET: 'the secret of the cookies', PORT: '0' }
  const { REDIS_URL, ...env } = process.env
  const child = spawn('env', ['-u', 'NODE_OPTIONS', 'node', file], { env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const baseUrl = await listening(child.stdout)
  t.ok(baseUrl, 'the quick start listens')

  const integration = {
    loginUrl: 'https://portal.example/external-oauth/3f9c',
    clientId: 'partner-123',
    clientSecret: settings.PORTAL_CLIENT_SECRET,
    redirectUri: 'https://portal.example/oauth/callback'
  }
  const client = portal({ baseUrl, ...integration })
  const result = await client.signIn({ cookies: { session: cookie.sign('alice', settings.COOKIE_SECRET) } })
  t.match(result, { ok: true, record: { external_id: 'alice', type: 'partner' } }, 'a user who is logged in enters')

  const url = `${baseUrl}/oauth/authorize?${new URLSearchParams({ client_id: integration.clientId, redirect_uri: integration.redirectUri, response_type: 'code', state: 's' })}`
  const { headers } = await fetch(url, { redirect: 'manual', headers: { cookie: 'session=alice.forged' } })
  t.match(headers.get('location'), /^\/login\?return_to=/, 'and one who is not goes to the login page')
}

async function listening (stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(line) ?? []
    if (url !== undefined) return url
  }
  throw new Error('The quick start ended without listening')
}

t.test('the table of options has every option, and no other', async (t) => {
  const options = { unheardOf: true } as unknown as Parameters<typeof partnerSso>[1]
  const error: Error = await Fastify().register(partnerSso, options).then(() => new Error('It started'), (error) => error)
  const [, list = ''] = /there are (.*)$/.exec(error.message) ?? []
  const [, section = ''] = /^## Options\n(.*?)^## /ms.exec(readFileSync('README.md', 'utf8')) ?? []
  const told = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  t.strictSame(told.sort(), list.split(', ').filter((name) => !['logLevel', 'logSerializers'].includes(name)).sort())
})
