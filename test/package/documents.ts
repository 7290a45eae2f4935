// The code blocks of the documents, written to a folder where they find the package, as it was built, by its name.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const documents = [
  'README.md',
  '.github/CHANGELOG.md',
  '.github/RUNBOOK.md',
  '.github/SECURITY.md',
  '.github/CONTRIBUTING.md',
  'lib/README.md',
  'lib/routes/README.md',
  'lib/stores/README.md',
  'lib/testing/README.md',
  'examples/README.md',
  'examples/logins/README.md',
  'test/README.md',
  'test/RFC.md',
  'test/bench/README.md'
]

export const texts = new Map(documents.map((document) => [document, readFileSync(document, 'utf8')]))
export const readme = texts.get('README.md') as string

export interface Block {
  document: string
  name: string | undefined
  language: string
  code: string
}

const fence = /^(?:<!-- ([\w: ]+) -->\n+)?```(\w+)\n(.*?)^```$/gms

export const blocks = [...texts].flatMap(([document, text]): Block[] => [...text.matchAll(fence)].map(
  ([, name, language = '', code = '']) => ({ document, name, language, code })
))

/** The code block that has this mark before it. */
export function block (name: string): string {
  const found = blocks.filter((block) => block.name === name)
  if (found[0] === undefined || found.length > 1) throw new Error(`There are ${found.length} blocks "${name}"`)
  return found[0].code
}

/** The commands of the first shell block that matches, each on one line. */
export function commands (pattern: RegExp): string[] {
  const shell = blocks.find(({ language, code }) => language === 'sh' && pattern.test(code))
  if (shell === undefined) throw new Error(`No command of the documents matches ${pattern}`)
  return shell.code.replaceAll(/\\\n\s*/g, '').trim().split('\n')
}

const tsconfig = {
  extends: resolve('test/package/hosts/tsconfig.json'),
  compilerOptions: { rootDir: '.', outDir: '.', noUnusedLocals: true, skipLibCheck: true },
  include: ['*.mts'],
  // The folder of the output would be excluded otherwise.
  exclude: []
}

/** Shows lines of the examples beside it. */
export const EXCERPTS = 'examples/logins/README.md'

const programs = blocks.filter(({ document, language }) =>
  document !== EXCERPTS && /^(?:ts|js|typescript|javascript)$/.test(language))

const PORTAL = 'declare const loginUrl: string, clientId: string, clientSecret: string, redirectUri: string\n'

/** What blocks leave out: the host of the first example, and the beginning of a test. */
const BEFORE: Record<string, string> = {
  register: `import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'

declare module 'fastify' {
  interface FastifyRequest { session: { user?: { id: string, email: string, name: string, role: string } } }
}
const app = Fastify()
${PORTAL}`,
  check: `import assert from 'node:assert/strict'
import test from 'node:test'
import type { FastifyInstance } from 'fastify'
import { portal } from 'fastify-partner-sso/testing'

declare const app: FastifyInstance
${PORTAL.replace('loginUrl: string, ', '')}`
}

interface Scope { teardown (stop: () => unknown): void }

/** Writes every program of the documents to a folder: `<name>.mjs` for JavaScript, `<name>.mts` for TypeScript. */
export async function written (t: Scope): Promise<string> {
  const directory = await mkdtemp('compiled/documents-')
  t.teardown(async () => await rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const [index, { name = `block ${index + 1}`, language, code }] of programs.entries()) {
    const before = BEFORE[name] ?? ''
    const extension = before === '' && language.startsWith('j') ? 'mjs' : 'mts'
    await writeFile(join(directory, `${name.replaceAll(' ', '-')}.${extension}`), before + code)
  }
  return resolve(directory)
}
