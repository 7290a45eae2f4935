import { Untested } from './errors.ts'
import type { Test } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

export const RACERS = 20
/** Milliseconds between the first request of a race and the others. */
const LEADS = [0, 0, 0, 1, 4, 16, 64, 256, 1024]

/** Sends the request of a race; true when it won. */
type Racer = () => Promise<boolean>

/**
 * Fails when a race has two winners. A race without a winner does not fail: a request that comes
 * after the first one is a replay, and may revoke the result of the first (RFC 6749 §4.1.2). So the
 * first request gets a lead, until a race is won.
 */
export const oneWinner = (prepare: (service: Service) => Promise<Racer>): Test =>
  async (service) => {
    let isWon = false
    for (const lead of LEADS) {
      if (isWon && lead > 0) return
      const winners = await race(service, await prepare(service), lead)
      expect(winners <= 1, `${winners} of ${RACERS} succeeded`)
      isWon ||= winners === 1
    }
    if (!isWon) throw new Untested(`no request won one of ${LEADS.length} races`)
  }

async function race (
  { settings: { wait }, signal }: Service, request: Racer, lead: number
): Promise<number> {
  // One wait for all: Node warns of a signal with eleven listeners.
  const passed = lead > 0 ? wait(lead, signal) : undefined
  const racers = Array.from({ length: RACERS }, async (_none, racer) => {
    if (racer > 0 && lead > 0) await passed
    return request()
  })
  return (await Promise.all(racers)).filter((won) => won).length
}
