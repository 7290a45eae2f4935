// Redis, as far as the plugin uses it: the semantics of SET … EX … NX, SET … EX … GET and GETDEL, by way of the
// plugin's own Redis store. Every command waits until the explorer lets it happen.
import { begin, connection, isProbe, type SteppedStore, valueName } from './world.ts'

/** What the plugin's commands have in common with those of ioredis. */
interface Command {
  name: string
  args: string[]
  toWritable (socket: object): unknown
  resolve (reply: unknown): void
  reject (error: Error): void
}

interface Entry { value: string, minutes: number }

/** Mistakes in what single use rests on, to see that they are found. */
export type Mistake =
  | 'SET ignores NX'
  | 'GETDEL keeps the value'
  | 'a revocation needs a token'
  | 'a mark is not put back'

/** A Redis of the explorer's. */
export function steppedRedis (mistake?: Mistake): SteppedStore {
  const entries = new Map<string, Entry>()
  // The first key that is ever put is that of the code; all others are the one of its token.
  let codeKey: string | undefined
  let isMarkTaken = false
  const isRevocation = (value: string | null) => valueName(value) === 'mark'
  const nameOf = (key: string) => key === codeKey ? 'code' : 'token'

  function set (key: string, value: string, options: string[]): string | null {
    if (!isProbe(key)) codeKey ??= key
    const before = entries.get(key)?.value ?? null
    if (options.includes('NX') && before !== null && mistake !== 'SET ignores NX') return null
    if (isRevocation(value) && isIgnored(before)) return before
    entries.set(key, { value, minutes: Number(options[options.indexOf('EX') + 1]) / 60 })
    return options.includes('GET') ? before : 'OK'
  }

  /** With these mistakes: a revocation of nothing, and the mark that GETDEL has removed. */
  function isIgnored (before: string | null): boolean {
    if (mistake === 'a mark is not put back') return isMarkTaken
    return mistake === 'a revocation needs a token' && before === null
  }

  function getdel (key: string): string | null {
    const value = entries.get(key)?.value ?? null
    isMarkTaken ||= isRevocation(value)
    if (mistake !== 'GETDEL keeps the value') entries.delete(key)
    return value
  }

  function execute ({ name, args: [key, value, ...options] }: Command): string | null {
    if (name === 'getdel') return getdel(key as string)
    if (name === 'set') return set(key as string, value as string, options)
    throw new Error(`The model does not know ${name}`)
  }

  function sendCommand (command: Command): void {
    // As ioredis does it: a command that must not be sent throws, or writes something else.
    const written = String(command.toWritable(connection()))
    if (!written.toLowerCase().includes(command.name)) throw new Error('The plugin withdrew the command')
    const [key = '', value] = command.args
    begin({
      name: `${command.name === 'getdel' ? 'take' : valueName(value) === 'mark' ? 'revoke' : 'put'} ${nameOf(key)}`,
      key,
      execute: () => execute(command),
      answer: (reply) => command.resolve(reply),
      lose: () => command.reject(new Error('Connection is closed.'))
    })
  }

  const client = {
    status: 'ready', options: {}, sendCommand, connect: async () => {}, on () {}, removeListener () {}
  }
  return {
    options: { redis: client },
    perProcess: true,
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
        isMarkTaken = false
        codeKey = keptCodeKey
        for (const [key, entry] of kept) entries.set(key, { ...entry })
      }
    }
  }
}
