import { connect } from './connection.js'
import { portal, users } from './host.js'

const BROWSER = 'user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n' +
  'accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\naccept-language: en'

const client = { client_id: portal.clientId, redirect_uri: portal.redirectUri }

/** The three requests of a sign-in, as text. `changes` replace parameters. */
export const requests = {
  authorize ({ session, state, ...changes }) {
    const query = new URLSearchParams({ ...client, response_type: 'code', state, ...changes })
    const cookie = session === undefined ? '' : `\r\ncookie: session=${session}`
    return `GET /oauth/authorize?${query} HTTP/1.1\r\nhost: 127.0.0.1\r\n${BROWSER}${cookie}\r\n\r\n`
  },

  token (changes) {
    const fields = { ...client, client_secret: portal.clientSecret, grant_type: 'authorization_code', ...changes }
    const form = String(new URLSearchParams(fields))
    return 'POST /oauth/token HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n' +
      `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${form.length}\r\n\r\n${form}`
  },

  user (token) {
    const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`
    return `GET /oauth/user HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n${authorization}\r\n`
  }
}

/** Plays browsers and portal: so many sign-ins at once, each on a connection of its own. Checks every response. */
export class Load {
  #connections
  #begun = 0

  static async open (port, concurrency) {
    return new Load(await Promise.all(Array.from({ length: concurrency }, () => connect(port))))
  }

  constructor (connections) {
    this.#connections = connections
  }

  /** So many whole sign-ins. */
  async signIn (count) {
    await this.#each(Array(count).fill(), async (connection) => {
      await user(connection, await token(connection, await authorize(connection, this.#begun++)))
    })
  }

  /** So many codes, left alive. */
  authorize (count) {
    return this.#each(Array(count).fill(), (connection) => authorize(connection, this.#begun++))
  }

  /** Exchanges the codes for tokens, left alive. */
  token (codes) {
    return this.#each(codes, token)
  }

  user (tokens) {
    return this.#each(tokens, user)
  }

  /** Sends the same request again and again. */
  repeat (request, status, count) {
    return this.#each(Array(count).fill(request), async (connection) => {
      const response = await connection.request(request)
      expect(response.status === status, 'status', response)
    })
  }

  /** Without this a server would do less than it should. Returns what was redeemed. */
  async checkSingleUse () {
    const [code] = await this.authorize(1)
    const [issued] = await this.token([code])
    await this.user([issued])
    await this.repeat(requests.user(issued.secret), 401, 1)
    await this.repeat(requests.token({ code: code.secret }), 400, 1)
    return { code: code.secret, token: issued.secret }
  }

  close () {
    for (const connection of this.#connections) connection.close()
  }

  /** The results of the step for each value; each connection takes the next value when it is free. */
  async #each (values, step) {
    const results = Array(values.length)
    let next = 0
    await Promise.all(this.#connections.map(async (connection) => {
      while (next < values.length) {
        const index = next++
        results[index] = await step(connection, values[index])
      }
    }))
    return results
  }
}

async function authorize (connection, number) {
  const { session, record } = users[number % users.length]
  const state = `a-state-of-a-usual-length-${number}`
  const response = await connection.request(requests.authorize({ session, state }))
  const location = /\r\nlocation: *(\S+)/i.exec(response.head)?.[1] ?? ''
  const secret = /[?&]code=([^&]+)/.exec(location)?.[1]
  const isRight = location.startsWith(`${portal.redirectUri}?`) && /[?&]state=([^&]*)/.exec(location)[1] === state
  expect(response.status === 302 && isRight && secret !== undefined, 'redirect', response)
  return { record, secret }
}

async function token (connection, { record, secret: code }) {
  const response = await connection.request(requests.token({ code }))
  expect(response.status === 200, 'status', response)
  const { token_type: type, access_token: secret } = JSON.parse(response.body)
  expect(type === 'Bearer' && secret.length > 0, 'token', response)
  return { record, secret }
}

async function user (connection, { record, secret }) {
  const response = await connection.request(requests.user(secret))
  expect(response.status === 200, 'status', response)
  const { external_id: id, name } = JSON.parse(response.body)
  expect(id === record.external_id && name === record.name, 'record', response)
}

function expect (isRight, what, { head, body }) {
  if (!isRight) throw new Error(`Wrong ${what} in a response:\n${head}\n\n${body}`)
}
