// The packed tarball and its examples in an empty folder, installed and compiled by the words of their page.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustRun, packed } from '../package/commands.js'
import { commands } from '../package/documents.ts'

/** The oldest compiler that reads Fastify's own declarations, beside the newest, which the page installs. */
const COMPILER = 'typescript-5.4@npm:typescript@5.4.5'
const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }

export const cwd = mkdtempSync(join(tmpdir(), 'partner-sso-installed-'))
process.once('exit', () => rmSync(cwd, { recursive: true }))

const install = commands(/npx tsc -p examples/).join('\n')
  .replace(/^(npm install .*)fastify-partner-sso /m, `$1${packed().tarball} `)
  .replace('--save-dev', `--save-dev ${COMPILER}`)
mustRun('bash', ['-ec', install], { cwd, env: npm })
cpSync('test/package/hosts', cwd, { recursive: true })
