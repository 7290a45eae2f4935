import { midMean } from './ratio.js'
import { stolenTime } from './stolen-time.js'

/** Sign-ins of each server in a block of the warm-up, which has two blocks at least. */
const WARM_UP_SIGN_INS = 19_200
/** Blocks of the warm-up at most. */
const WARM_UPS = 6
/** A turn of all servers is thrown away if more than this part of the processors' time was stolen by other machines. */
const STOLEN = 0.02

/** V8 optimizes for a while: the warm-up ends when no server is cheaper by a hundredth than in the block before. */
export async function warmUp (servers) {
  let costs = servers.map(() => Infinity)
  for (let block = 0; block < WARM_UPS; block++) {
    const turns = await turnsOf(servers, WARM_UP_SIGN_INS)
    const now = servers.map((_, at) => midMean(turns.map((turn) => turn[at].both)))
    if (now.every((cost, at) => cost > 0.99 * costs[at])) return
    costs = now
  }
}

/**
 * Lets each server make so many sign-ins. The turns go there and back, so that no server always follows the same other.
 *
 * @returns a list of turns, each with the cost of every server
 */
export async function turnsOf (servers, signIns) {
  const count = signIns / servers[0].signInsOfTurn
  const turns = []
  let tried = 0
  while (turns.length < count) {
    if (tried++ > 2 * count) throw new Error('Other machines steal too much of the processors: nothing can be measured')
    const stolen = stolenTime()
    const order = turns.length % 2 === 0 ? servers : servers.toReversed()
    const costs = new Map()
    for (const server of order) costs.set(server, await server.turn())
    if (stolen() <= STOLEN) turns.push(servers.map((server) => costs.get(server)))
  }
  return turns
}
