import { execFileSync } from 'node:child_process'

const SERVER = 0
const OTHERS = 1

const isPinned = [SERVER, OTHERS].every((core) => {
  try {
    execFileSync('taskset', ['-c', String(core), 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})

export const pinning = isPinned ? 'the server on one core, load generator and Redis on another' : 'no process pinned'

/** The command line on the core of the server, or on that of load generator and Redis. */
export const onServerCore = (...command) => pinned(SERVER, command)
export const onOtherCore = (...command) => pinned(OTHERS, command)

function pinned (core, command) {
  const [program, ...args] = isPinned ? ['taskset', '-c', String(core), ...command] : command
  return [program, args]
}

/** Moves all threads of this process, the load generator, to their core. */
export function pinSelf () {
  if (!isPinned) return
  execFileSync('taskset', ['-a', '-c', '-p', String(OTHERS), String(process.pid)], { stdio: 'ignore' })
}

/** A Node.js release such as `24`: the running one, or from the npm package `node`. */
export function findNode (release) {
  const program = 'process.execPath + " " + process.versions.node'
  const isRunning = process.versions.node.split('.')[0] === release
  const [command, ...args] = isRunning
    ? [process.execPath]
    : ['npx', '--yes', '--prefer-offline', '--package', `node@${release}`, '--', 'node']
  const [path, version] = execFileSync(command, [...args, '-p', program], { encoding: 'utf8' }).trim().split(' ')
  return { path, version }
}
