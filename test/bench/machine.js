import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/**
 * Which core each side runs on: the server has one to itself, load generator and Redis share the rest.
 * Undefined where there is no `taskset` or one core only; then nothing is pinned.
 */
export const pins = choosePins()

function choosePins () {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    const cores = coreList(/Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
    if (cores.length < 2) return undefined
    const [server, load, redis = load] = cores
    return { server, load, redis }
  } catch {
    return undefined
  }
}

/** `0-2,5` is 0, 1, 2 and 5. */
function coreList (text) {
  return text.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, n) => first + n)
  })
}

let serverNode = process.execPath

/** Has the servers run on another release of Node; the npm package `node` carries its binary. Returns its version. */
export function useNode (release) {
  const program = 'process.execPath + " " + process.versions.node'
  const args = ['--yes', '--prefer-offline', '-p', `node@${release}`, '--', 'node', '-p', program]
  const [path, version] = execFileSync('npx', args, { encoding: 'utf8' }).trim().split(' ')
  serverNode = path
  return version
}

/** The command line that runs `node` with the arguments on the core of `side`. */
export function pinned (side, args) {
  const node = side === 'server' ? serverNode : process.execPath
  return pins ? ['taskset', ['-c', String(pins[side]), node, ...args]] : [node, args]
}

/** Pins all threads of this process, the load generator. */
export function pinSelf () {
  if (pins) execFileSync('taskset', ['-a', '-c', '-p', String(pins.load), String(process.pid)], { stdio: 'ignore' })
}

/** The machine's kind, for the reader of a result; taken before this process is pinned. */
const { arch, platform, versions } = process
export const machine = `${availableParallelism()} cores, ${platform} ${arch}, Node ${versions.node}`

export function describePins () {
  if (!pins) return 'nothing pinned'
  const together = pins.redis === pins.load
  const shared = together ? 'load generator and Redis on another' : 'load generator and Redis on one each'
  return `server pinned to one core, ${shared}`
}
