import { Untested } from './errors.ts'
import type { Test } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

export const RACERS = 20
/**
 * Milliseconds by which the first request of a race is ahead; those with a lead only until one race
 * is won.
 */
const LEADS = [0, 0, 0, 1, 4, 16, 64, 256, 1024]

/** Sends the request of a race; true when it won. */
type Racer = () => Promise<boolean>

/**
 * More than one winner of a race is a mistake for certain. No winner is not a mistake: a request that comes
 * after the first is a replay, and may revoke what the first one gets (RFC 6749 §4.1.2). So the
 * first one gets a lead, until a race is won.
 *
 * @param prepare - gets ready for a race
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
  // One for all of them: Node warns of eleven listeners of a signal.
  const passed = lead > 0 ? wait(lead, signal) : undefined
  const racers = Array.from({ length: RACERS }, async (_none, racer) => {
    if (racer > 0 && lead > 0) await passed
    return request()
  })
  return (await Promise.all(racers)).filter((won) => won).length
}
