import { figure, interval, median, table } from './figures.js'
import { users } from './host.js'
import { requests } from './load.js'
import { Server } from './server.js'

const REPEATED = 500
const TURNS_A_ROUND = 10

/** What each refusal costs beside the success of its endpoint: in one process, by turns. */
export async function refusals ({ nodes: [node], redis, rounds, say }) {
  const measured = await Server.during('ours-url', { node, redis }, async (server) => {
    const redeemed = await server.load.checkSingleUse()
    const turns = []
    for (let turn = 0; turn <= rounds * TURNS_A_ROUND; turn++) turns.push(await costs(server, redeemed))
    return turns.slice(1) // the first one warms up
  })
  say('refusals')
  return table(['Response', 'CPU µs', '× success'], Object.keys(measured[0]).map((name) => describe(name, measured)))
}

const forged = (secret) => secret.replace(/^.{10}/, 'aaaaaaaaaa')

/** CPU of each response, in microseconds. */
async function costs (server, redeemed) {
  const { load } = server
  let codes, tokens
  const [{ session }] = users
  const state = 'a-state-of-a-usual-length'
  const elsewhere = { redirect_uri: 'https://evil.example/' }
  const repeat = (status, request) => () => load.repeat(request, status, REPEATED)
  const authorize = (status, changes) => repeat(status, requests.authorize({ session, state, ...changes }))
  const token = (status, changes) => repeat(status, requests.token({ code: redeemed.code, ...changes }))
  const user = (status, secret) => repeat(status, requests.user(secret))
  const steps = {
    'authorize: success': async () => { codes = await load.authorize(REPEATED) },
    'authorize: unknown client': authorize(400, { client_id: 'nobody' }),
    'authorize: other redirect_uri': authorize(400, elsewhere),
    'authorize: no response_type': authorize(302, { response_type: '' }),
    'authorize: not logged in': authorize(302, { session: undefined }),
    'token: success': async () => { tokens = await load.token(codes) },
    'token: unknown client': token(401, { client_id: 'nobody' }),
    'token: wrong secret': token(401, { client_secret: 'not-the-secret' }),
    'token: other redirect_uri': token(400, elsewhere),
    'token: unknown code': token(400, { code: forged(redeemed.code) }),
    'token: redeemed code': token(400, {}),
    'user: success': () => load.user(tokens),
    'user: unknown token': user(401, forged(redeemed.token)),
    'user: no token': user(401)
  }
  const result = {}
  for (const [name, step] of Object.entries(steps)) result[name] = await server.cost(step) / REPEATED
  return result
}

function describe (name, turns) {
  const success = name.replace(/:.*/, ': success')
  const ratio = median(turns.map((costs) => costs[name] / costs[success]))
  return [name, figure(median(turns.map((costs) => costs[name])).value), name === success ? '1' : interval(ratio)]
}
