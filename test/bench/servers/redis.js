import { Redis } from 'ioredis'

/** Lifetime of codes and tokens in every server, in seconds; longer only where records must stay alive. */
export const lifetime = 60

/** @param {'plain' | 'pipelined' | 'coalesced'} variant */
export function connectRedis (url, variant) {
  const redis = new Redis(url, { enableAutoPipelining: variant === 'pipelined' })
  if (variant === 'coalesced') coalesce(redis)
  return redis
}

/** The writes of one event-loop turn leave in one write. */
function coalesce (redis) {
  const send = redis.sendCommand
  let corked = false
  redis.sendCommand = function (...command) {
    if (!corked && this.stream) {
      const { stream } = this
      corked = true
      stream.cork()
      setImmediate(() => {
        corked = false
        stream.uncork()
      })
    }
    return send.apply(this, command)
  }
}
