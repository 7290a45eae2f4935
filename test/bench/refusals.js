import { withServer } from './round.js'
import { napping } from './nap.js'
import { spread } from './statistics.js'
import { figures, table } from './table.js'

const AUTHORITY = 'host: 127.0.0.1'
const BROWSER = 'user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n' +
  'accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\naccept-language: en'

/**
 * What each refusal costs the server, beside the success of the same endpoint in the same process: all rounds are run
 * by turns.
 *
 * @returns {Promise<string>} the figures as Markdown
 */
export async function refusals ({ servers, rounds, flows, warmUp, say, ...setting }) {
  const sections = []
  for (const server of servers) {
    const measured = await withServer({ server, ...setting }, async (running, load) => {
      await load.checkSingleUse()
      await load.signIn(warmUp)
      const used = await usedGoods(load)
      const costs = new Map()
      for (let round = 0; round <= rounds; round++) {
        for (const [name, work] of steps(load, used, flows)) {
          const before = await running.cpu()
          await napping(work)
          const cost = (await running.cpu() - before) / flows
          // The first round warms up what sign-ins do not run.
          if (round > 0) costs.set(name, [...costs.get(name) ?? [], cost])
        }
        say(`refusals  ${server.name}  round ${round} of ${rounds}`)
      }
      return costs
    })
    sections.push(`${server.title}:\n\n${report(measured)}`)
  }
  return sections.join('\n\n')
}

/** A code and a token that have been used. */
async function usedGoods (load) {
  const [used] = await load.authorize(1)
  await load.user(await load.token([used]))
  return used.code
}

/** The successes and the refusals of each endpoint, each as often as there are flows. */
function steps (load, usedCode, flows) {
  const { portals: [portal], users: [user] } = load.host
  const session = `cookie: session=${user.session}`
  const client = { client_id: portal.clientId, redirect_uri: portal.redirectUri }
  const good = { ...client, response_type: 'code', state: 'a-state' }
  const authorize = (changes, ...lines) =>
    get(`/oauth/authorize?${new URLSearchParams({ ...good, ...changes })}`, ...lines)
  const form = {
    ...client, client_secret: portal.clientSecret, grant_type: 'authorization_code', code: usedCode
  }
  const unknownCode = usedCode.replace(/^.{10}/, 'aaaaaaaaaa')
  const bearer = `authorization: Bearer ${'a'.repeat(107)}`
  const repeat = (text, status) => () => load.repeat(text, status, flows)
  let codes, tokens
  return Object.entries({
    'authorize: a code': async () => { codes = await load.authorize(flows) },
    'authorize: unknown client': repeat(authorize({ client_id: 'nobody' }, session), 400),
    'authorize: another redirect_uri': repeat(authorize({ redirect_uri: 'https://evil.example/' }, session), 400),
    'authorize: not logged in': repeat(authorize({}), 302),
    'token: a token': async () => { tokens = await load.token(codes) },
    'token: unknown client': repeat(post({ ...form, client_id: 'nobody' }), 401),
    'token: wrong secret': repeat(post({ ...form, client_secret: 'not the secret' }), 401),
    'token: another redirect_uri': repeat(post({ ...form, redirect_uri: 'https://evil.example/' }), 400),
    'token: unknown code': repeat(post({ ...form, code: unknownCode }), 400),
    'token: a code once more': repeat(post(form), 400),
    'user: a record': async () => { await load.user(tokens) },
    'user: unknown token': repeat(get('/oauth/user', 'accept: application/json', bearer), 401),
    'user: no token': repeat(get('/oauth/user', 'accept: application/json'), 401)
  })
}

function get (target, ...lines) {
  const own = target.startsWith('/oauth/authorize') ? [BROWSER, ...lines] : lines
  return [`GET ${target} HTTP/1.1`, AUTHORITY, ...own, '', ''].join('\r\n')
}

function post (fields) {
  const form = String(new URLSearchParams(fields))
  return [
    'POST /oauth/token HTTP/1.1', AUTHORITY, 'accept: application/json',
    'content-type: application/x-www-form-urlencoded', `content-length: ${form.length}`, '', form
  ].join('\r\n')
}

function report (costs) {
  let success
  return table(['Request', 'CPU µs', '× success'], [...costs].map(([name, values]) => {
    const cost = spread(values)
    if (/: a (?:code|token|record)$/.test(name)) success = cost.median
    return [name, figures(cost), (cost.median / success).toFixed(2)]
  }))
}
