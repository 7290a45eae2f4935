import type { Redis } from 'ioredis'
import { within } from '../time-limit.ts'

/** Replies to the first command of a connection that the server does not serve. */
const NOT_SERVED = /^(?:NOAUTH |ERR max number of clients)/

/**
 * Asks a server for a sign of life: any reply to PING, such as LOADING. Where a database is named, it is the OK of its
 * SELECT, as ioredis uses database 0 when that is refused.
 *
 * Resolves with the error where there is none within that time.
 */
export async function signOfLife (server: Redis, milliseconds: number): Promise<Error | undefined> {
  const { db } = server.options
  const ask = (): Promise<string> => db ? server.select(db) : server.ping()
  const silence = (): Error => new Error(`Redis said nothing for ${milliseconds} ms, and the connection was given up`)
  // ioredis 5 is "ready" before AUTH has its reply: that it was refused is an event.
  let refused: Error | undefined
  const onError = (error: Error): void => { refused = error }
  server.once('error', onError)
  try {
    await within(performance.now() + milliseconds, ask, silence)
  } catch (error) {
    if (!isReplyTo('ping', error as Error) || NOT_SERVED.test((error as Error).message)) refused ??= error as Error
  }
  server.off('error', onError)
  return refused
}

/** Whether the server replied to this command with the error: it has not executed it. */
export function isReplyTo (name: string, error: Error & { command?: { name: string } }): boolean {
  // When AUTH is refused, ioredis rejects all commands that are under way with that reply.
  return error.name === 'ReplyError' && error.command?.name === name
}
