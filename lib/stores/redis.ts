import { Command, type RedisOptions } from 'ioredis'
import { type RedisClient } from './redis-client.ts'
import { type Connection, type OnRefused, openConnection, whenReady } from './redis-connection.ts'
import { type OnLateAnswer, RedisCommand } from './redis-command.ts'
import { type TimedStore } from './store.ts'
import { within } from './time-limit.ts'

// Marks a key as revoked, followed by the lifetime of the mark; no base64url text starts with it.
const REVOKED = '!'

/**
 * The Redis store: one command for each operation, each on one key, so it runs on a single node, on Sentinel and on
 * Cluster alike. Nothing is sent while the client is not connected, and nothing after the deadline.
 */
export function redisStore (
  client: RedisClient,
  keyPrefix: string,
  { trouble = () => '', giveUpAfter }: Partial<Connection> = {}
): TimedStore {
  // Commands built here bypass the prefix that the host may have set on its client.
  const prefix = (client.options.keyPrefix ?? '') + keyPrefix

  /** Throws where nothing can be sent. */
  function send (deadline: number, name: string, args: string[], onLateAnswer?: OnLateAnswer): Promise<unknown> {
    if (client.status !== 'ready') throw new Error(`Redis is not connected (${client.status})${trouble()}`)
    return new RedisCommand(name, args, { deadline, giveUpAfter, onLateAnswer }).sendBy(client)
  }

  /**
   * Puts back a mark that GETDEL removed. The command is an ordinary one of the client, which sends it again after a
   * lost connection: a mark may be set twice, and late.
   */
  async function putBack (key: string, mark: string): Promise<void> {
    const command = new Command('set', [prefix + key, mark, 'EX', lifetimeOf(mark)])
    client.sendCommand(command)
    await command.promise
  }

  return {
    async put (key, value, lifetime, deadline) {
      const answer = await send(deadline, 'set', [prefix + key, value, 'EX', String(lifetime), 'NX'])
      if (answer !== 'OK' && answer !== null) throw notTheAnswer('SET')
      return answer === 'OK'
    },

    async take (key, deadline) {
      // An answer that comes too late is of no use to the caller, but a mark must not get lost with it.
      const onLateAnswer: OnLateAnswer = (answer) => {
        if (isMark(answer)) putBack(key, answer).catch(() => {})
      }
      const answer = textOrNull('GETDEL', await send(deadline, 'getdel', [prefix + key], onLateAnswer))
      if (!isMark(answer)) return answer
      await within(deadline, () => putBack(key, answer))
      return null
    },

    async revoke (key, lifetime, deadline) {
      const mark = REVOKED + lifetime
      const old = textOrNull('SET', await send(deadline, 'set', [prefix + key, mark, 'EX', lifetimeOf(mark), 'GET']))
      return old !== null && !isMark(old)
    }
  }
}

function isMark (answer: unknown): answer is string {
  return typeof answer === 'string' && answer.startsWith(REVOKED)
}

function lifetimeOf (mark: string): string {
  return mark.slice(REVOKED.length)
}

/** A stored text or none. Redis answers QUEUED to any command where the host has begun a transaction (MULTI). */
function textOrNull (name: string, answer: unknown): string | null {
  if (answer === null || (typeof answer === 'string' && answer !== 'QUEUED')) return answer
  throw notTheAnswer(name)
}

/** The answer itself is not named: it may be a stored value. */
function notTheAnswer (name: string): Error {
  return new Error(`Redis answered ${name} with something that is no answer to it (a connection in MULTI, a proxy)`)
}

/** What `openStore` needs: the store, when it is connected, and how it is closed. */
export function openRedis (
  redis: string | RedisOptions | RedisClient,
  { keyPrefix, storeTimeout, onRefused }: { keyPrefix: string, storeTimeout: number, onRefused: OnRefused }
): { store: TimedStore, connected (deadline: number): Promise<void>, close (): void } {
  const connection = openConnection(redis, storeTimeout, onRefused)
  let connected: Promise<void> | undefined
  return {
    store: redisStore(connection.client, keyPrefix, connection),
    // The first attempt is waited for. Later a client that is not connected is unavailable at once.
    connected (deadline) {
      connected ??= whenReady(connection.client, deadline)
      return connected
    },
    close: connection.close
  }
}
