import { transform } from 'esbuild'
import { spawn } from 'node:child_process'
import {
  cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BUILT, COMPILED, LINKED } from '../runner/compile.js'

/** Stops at the first failure. tap's own limit would be a timer that tests move forward. */
const TAP = { TAP_BAIL: '1', TAP_TIMEOUT: '600' }
/** Milliseconds. */
const TIMEOUT = 600_000
/** Folders that are not copied. */
const LEFT = ['node_modules', '.tap', '.git']
/** What the watchdog of a process says of one that hangs. */
const HANGS = /no result for \d+ seconds|every test is over, and something is open/

/** The servers of a test that was stopped. */
function endGroup (pid) {
  try {
    process.kill(-pid)
  } catch {
    // There are none.
  }
}

/** `./x.ts` and `../x.ts` are `.js` when they are compiled. */
const renamed = (code) => code.replaceAll(/(from "|import\(")(\.{1,2}\/[^"]*)\.ts"/g, '$1$2.js"')

/** A copy of the project, its compiled tests and its package, in which tests run with a mistake. */
export class Tree {
  #path = mkdtempSync(join(tmpdir(), 'mutation-'))

  constructor () {
    for (const name of readdirSync('.').filter((name) => !LEFT.includes(name))) {
      cpSync(name, join(this.#path, name), { recursive: true, verbatimSymlinks: true })
    }
    symlinkSync(resolve('node_modules'), join(this.#path, 'node_modules'))
    // Tests of the package and of the examples must find what is here.
    for (const path of [...LINKED, ...BUILT]) {
      rmSync(join(this.#path, COMPILED, path), { force: true })
      symlinkSync(join(this.#path, path), join(this.#path, COMPILED, path))
    }
  }

  /** Does the work while the files of lib have these texts. Undefined when one of them does not compile. */
  async with (texts, work) {
    const changes = []
    for (const [file, text] of texts) {
      const compiled = await transform(text, { loader: 'ts', sourcefile: file }).catch(() => undefined)
      if (compiled === undefined) return undefined
      const name = file.replace(/ts$/, 'js')
      const code = renamed(compiled.code)
      changes.push([file, text], [join(COMPILED, name), code], [name.replace(/^lib/, 'dist'), code])
    }
    const places = changes.map(([file, text]) => [join(this.#path, file), text]).filter(([path]) => existsSync(path))
    const right = places.map(([path]) => [path, readFileSync(path)])
    for (const [path, text] of places) writeFileSync(path, text)
    const result = await work()
    for (const [path, text] of right) writeFileSync(path, text)
    return result
  }

  /** How a process of the tests ends, `passes`, `fails` or `hangs`, and its output. A test file is a program. */
  run (name, environment = {}) {
    return this.#end(process.execPath, [join(COMPILED, 'processes', name)], environment)
  }

  /** How the compiler ends: a mistake may be one of types alone. */
  checkTypes () {
    return this.#end('sh', ['-c', 'npx tsc -p lib --emitDeclarationOnly && npx tsc -p .'], {})
  }

  #end (program, parameters, environment) {
    const child = spawn(program, parameters, {
      cwd: this.#path,
      env: { ...process.env, ...TAP, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT,
      detached: true
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { output += bytes })
    child.once('exit', () => endGroup(child.pid))
    // When all of the output has come.
    return new Promise((resolve) => child.once('close', (code, signal) => {
      const hangs = signal !== null || HANGS.test(output)
      resolve({ verdict: hangs ? 'hangs' : code === 0 ? 'passes' : 'fails', output })
    }))
  }

  remove () {
    rmSync(this.#path, { recursive: true })
  }
}
