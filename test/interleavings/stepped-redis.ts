// Redis, as far as the plugin uses it: the semantics of SET … EX … NX, SET … EX … GET and GETDEL, by way of the
// plugin's own Redis store. Every command waits until the explorer lets it happen. `stepped-redis.test.ts` compares it
// with a redis-server.
import { begin, connection, isProbe, valueName } from './world.ts'
import type { SteppedStore } from './world.ts'

/** What the plugin's commands have in common with those of ioredis. */
interface Command {
  name: string
  args: string[]
  toWritable (socket: object): unknown
  resolve (reply: unknown): void
  reject (error: Error): void
}

interface Entry { value: string, minutes: number }

/** An error that Redis replies with. */
class ReplyError extends Error {
  override name = 'ReplyError'
}

/** Mistakes that break single use, to see that they are found. */
export const MISTAKES = [
  'SET ignores NX', 'SET GET changes nothing', 'SET GET needs a value', 'GETDEL keeps the value'
] as const

export type Mistake = typeof MISTAKES[number] | 'a refused command is executed'

export interface SteppedRedis extends SteppedStore {
  /** Seconds that the key is held for; -2 when it is not. */
  ttl (key: string): number
}

/** A Redis of the explorer's. */
export function steppedRedis (mistake?: Mistake): SteppedRedis {
  const entries = new Map<string, Entry>()
  // The first key that is ever put is that of the code; all others are the one of its token.
  let codeKey: string | undefined
  let isFull = false
  const nameOf = (key: string) => key === codeKey ? 'code' : 'token'

  function set (key: string, value: string, options: string[]): string | null | ReplyError {
    if (!isProbe(key)) codeKey ??= key
    if (isFull) return new ReplyError("OOM command not allowed when used memory > 'maxmemory'.")
    const { value: old = null } = entries.get(key) ?? {}
    const isRevocation = options.includes('GET')
    if (isRevocation && mistake === 'SET GET changes nothing') return old
    if (isRevocation && mistake === 'SET GET needs a value' && old === null) return old
    if (options.includes('NX') && old !== null && mistake !== 'SET ignores NX') return null
    entries.set(key, { value, minutes: Number(options[options.indexOf('EX') + 1]) / 60 })
    return isRevocation ? old : 'OK'
  }

  function getdel (key: string): string | null {
    const { value = null } = entries.get(key) ?? {}
    if (mistake !== 'GETDEL keeps the value') entries.delete(key)
    return value
  }

  const commands: Record<string, (...args: string[]) => unknown> = {
    set: (key = '', value = '', ...options) => set(key, value, options),
    getdel: (key = '') => getdel(key)
  }

  function sendCommand (command: Command): void {
    // As ioredis does it: a command that must not be sent throws, or writes something else.
    const written = String(command.toWritable(connection()))
    if (!written.toLowerCase().includes(command.name)) throw new Error('The plugin withdrew the command')
    const { name, args } = command
    const [key = ''] = args
    const operation = name === 'getdel' ? 'take' : args.includes('GET') ? 'revoke' : 'put'
    const execute = () => commands[name]?.(...args)
    begin({
      name: `${operation} ${nameOf(key)}`,
      execute,
      deliver: (reply) => reply instanceof Error ? command.reject(reply) : command.resolve(reply),
      connection: {
        lose: () => command.reject(new Error('Connection is closed.')),
        refuse () {
          if (mistake === 'a refused command is executed') execute()
          command.reject(new ReplyError("READONLY You can't write against a read only replica."))
        }
      }
    })
  }

  const client = {
    status: 'ready', options: {}, sendCommand, connect: async () => {}, on () {}, removeListener () {}
  }
  return {
    options: { redis: client },
    perProcess: true,
    fill (full) { isFull = full },
    ttl: (key) => (entries.get(key)?.minutes ?? -2 / 60) * 60,
    age (minutes) {
      for (const [key, entry] of entries) {
        entry.minutes -= minutes
        if (entry.minutes <= 0) entries.delete(key)
      }
    },
    held: () => Object.fromEntries(
      [...entries].map(([key, { value, minutes }]) => [nameOf(key), `${valueName(value)} ${minutes}`])
    ),
    save () {
      const keptCodeKey = codeKey
      const kept = [...entries].filter(([key]) => !isProbe(key)).map(([key, entry]) => [key, { ...entry }] as const)
      return async () => {
        entries.clear()
        isFull = false
        codeKey = keptCodeKey
        for (const [key, entry] of kept) entries.set(key, { ...entry })
      }
    }
  }
}
