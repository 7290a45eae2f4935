import { transform } from 'esbuild'
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { COMPILED } from '../runner/compile.js'

/** Stops at the first failure. tap's own limit would be a timer that tests move forward. */
const TAP = { TAP_BAIL: '1', TAP_TIMEOUT: '600' }
/** Milliseconds. */
const TIMEOUT = 120_000
const OWN = [COMPILED, '.tap', '.git']

/** The servers of a test that was stopped. */
function endGroup (pid) {
  try {
    process.kill(-pid)
  } catch {
    // There are none.
  }
}

/** A copy of the compiled tree, in which tests run with a mistake. */
export class Tree {
  #path = mkdtempSync(join(tmpdir(), 'mutation-'))

  constructor () {
    for (const name of readdirSync('.').filter((name) => !OWN.includes(name))) {
      symlinkSync(resolve(name), join(this.#path, name))
    }
    cpSync(COMPILED, join(this.#path, COMPILED), { recursive: true, verbatimSymlinks: true })
  }

  /** Does the work while the file of lib has this text. Undefined when the text does not compile. */
  async with (file, text, work) {
    const path = join(this.#path, COMPILED, file.replace(/ts$/, 'js'))
    const right = readFileSync(path)
    const compiled = await transform(text, { loader: 'ts', sourcefile: file }).catch(() => undefined)
    if (compiled === undefined) return undefined
    writeFileSync(path, compiled.code.replaceAll(/(from "|import\(")(\.{1,2}\/[^"]*)\.ts"/g, '$1$2.js"'))
    const result = await work()
    writeFileSync(path, right)
    return result
  }

  /** Whether a process of the tests fails. A test file of tap is a program. */
  fails (name, environment = {}) {
    const child = spawn(process.execPath, ['--import=@tapjs/mock/import', join(COMPILED, 'processes', name)], {
      cwd: this.#path,
      env: { ...process.env, ...TAP, ...environment },
      stdio: 'ignore',
      timeout: TIMEOUT,
      detached: true
    })
    return new Promise((resolve) => child.once('exit', (code) => {
      endGroup(child.pid)
      resolve(code !== 0)
    }))
  }

  remove () {
    rmSync(this.#path, { recursive: true })
  }
}
